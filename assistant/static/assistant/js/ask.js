// The page Ask: one question at a time, its answer as it is written, and what to do when none can be given.

import { showAnswer, showPassages } from "./answer.js";
import { call, Refusal } from "./api.js";
import { say } from "./dom.js";
import { eventsOf } from "./eventstream.js";
import { hideFeedback, offerFeedback } from "./feedback.js";
import { forget, kept } from "./keeping.js";
import { completePassages } from "./passages.js";
import { hideTrouble, showTrouble } from "./trouble.js";

const at = (id) => document.getElementById(id);
const form = at("question-form");
const field = at("question");
let asking = null;

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const question = field.value.trim();
  if (question && !asking) ask(question);
});

field.addEventListener("keydown", (event) => {
  // While an input method composes, Enter ends the word and not the question.
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  form.requestSubmit();
});

at("stop").addEventListener("click", () => asking?.abort());

async function ask(question) {
  const mine = (asking = new AbortController());
  begin(question);
  try {
    showDone(question, await answerTo(question, mine.signal));
    forget();
  } catch (error) {
    fail(error, question);
  } finally {
    asking = null;
    setBusy(false);
  }
}

/** The whole answer; its text is shown as it comes. A server that does not stream sends it at once. */
async function answerTo(question, signal) {
  const response = await call("/v1/answers", {
    method: "POST",
    signal,
    headers: { "Content-Type": "application/json", Accept: "text/event-stream, application/json" },
    body: JSON.stringify({ question }),
  });
  const isStream = (response.headers.get("Content-Type") || "").startsWith("text/event-stream");
  return isStream ? readStream(response) : response.json();
}

async function readStream(response) {
  let text = "";
  try {
    for await (const [name, value] of eventsOf(response)) {
      if (name === "done") return value;
      if (name === "error") throw new Refusal(value.status, value);
      if (name === "delta") at("answer").textContent = text += value.text;
    }
  } catch (error) {
    if (error instanceof Refusal || error.name === "AbortError") throw error;
  }
  throw new Refusal(0, { detail: "The answer broke off." });
}

function begin(question) {
  hideTrouble();
  hideFeedback();
  setBusy(true);
  at("opening").hidden = true;
  at("sources").hidden = true;
  at("reply").hidden = false;
  delete at("reply").dataset.sources;
  delete at("reply").querySelector(".answer").dataset.state;
  at("asked").textContent = question;
  at("answer").replaceChildren();
  at("origin").textContent = "";
  say(at("status"), "Reading the policies…");
}

function setBusy(busy) {
  at("ask").disabled = busy;
  at("stop").hidden = !busy;
  at("status").toggleAttribute("data-busy", busy);
  at("answer").setAttribute("aria-busy", String(busy));
}

function showDone(question, answer) {
  const { citations, newer_pending: newer } = answer;
  showAnswer(at("answer"), answer.answer, citations);
  showPassages(at("passages"), citations, newer);
  at("sources").hidden = citations.length === 0;
  at("reply").toggleAttribute("data-sources", citations.length > 0);
  if (citations.length === 0) return showAbsent();
  completePassages(at("passages"), citations);
  offerFeedback(question, answer);
  at("origin").textContent = answer.cached ? "Answered before from the same policies." : "";
  say(at("status"), `Answered, with ${citations.length} passage${citations.length === 1 ? "" : "s"}.`);
}

function showAbsent() {
  at("reply").querySelector(".answer").dataset.state = "absent";
  at("origin").textContent = "Other words may find it; the list of documents shows what there is.";
  say(at("status"), "Nothing was found in the policies.");
}

function fail(error, question) {
  if (!at("answer").textContent) at("reply").hidden = true;
  if (error.name === "AbortError") return say(at("status"), "Stopped.");
  say(at("status"), "");
  return showTrouble(error, question, () => asking || ask(question));
}

field.value = kept() || field.value;
