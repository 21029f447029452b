// The page of a document whose next version is on its way: follows it, and offers it when it is there.

import { say } from "./dom.js";
import { follow } from "./following.js";
import { poll } from "./polling.js";
import { endWords, estimateWords, liveWords } from "./words.js";

const at = (id) => document.getElementById(id);
const { job: url, number, document: path } = at("waiting").dataset;
const DOCUMENT_MS = 5000;

function show(job) {
  if (job.finished_at) return;
  say(at("waiting-work"), liveWords(job, number));
  say(at("waiting-foreseen"), estimateWords(job.estimate));
  const { done, total } = job.progress;
  at("waiting-course").hidden = !total;
  Object.assign(at("waiting-course").firstElementChild, { max: total || 1, value: done });
}

try {
  const job = await follow(url, show);
  say(at("waiting-work"), endWords(job, number));
  say(at("waiting-foreseen"), job.error?.detail || "");
  at("waiting-course").hidden = true;
  at("waiting-done").hidden = job.state !== "succeeded";
} catch {
  // Another caller's job can't be followed: the document itself tells everybody when the version is there.
  const following = poll(path, DOCUMENT_MS, (found) => {
    if (!found.published || found.published.number < Number(number)) return;
    say(at("waiting-work"), `version ${number} is published.`);
    at("waiting-done").hidden = false;
    following.stop();
  });
}
