// The page Operations: asks for the numbers, and says what stands in the way when none come.

import { HourCharts } from "./hour.js";
import { element, say } from "./dom.js";
import { DeadLetters } from "./dead-letters.js";
import { poll } from "./polling.js";
import { showProvider, showQueue } from "./standing.js";
import { showWorkers } from "./workers.js";
import { duration } from "./words.js";

const NUMBERS_MS = 2000;
const HISTORY_MS = 10000;

const at = (id) => document.getElementById(id);
const title = document.title;
const charts = new HourCharts(at("charts"));
const letters = new DeadLetters(() => numbers.askNow());
let readAt = null;

const numbers = poll("/operations/numbers", NUMBERS_MS, show, trouble);
poll("/operations/history", HISTORY_MS, (hour) => charts.draw(hour));

function show(found) {
  readAt = new Date();
  document.body.removeAttribute("data-stale");
  say(at("as-of"), `As of ${readAt.toLocaleTimeString()}`);
  for (const [name, queue] of Object.entries(found.queues)) showQueue(at(`queue-${name}`), queue);
  showProvider(at("provider"), found.provider, found.cost_today_usd);
  showWorkers(at("workers"), found.workers);
  letters.show(found.queues);
  showAlarms(alarmsOf(found.queues));
}

function alarmsOf(queues) {
  const stalled = Object.entries(queues).filter(([, queue]) => queue.stalled);
  return stalled.map(([name, queue]) => [
    `The queue “${name}” stands still.`,
    `${queue.stalled} ${count(queue.depth.jobs, "job")} unfinished, the oldest for ${duration(queue.oldest_age_seconds)}.`,
  ]);
}

/** Built anew only when the words that matter change: an alert that ticks would be read out every other second. */
function showAlarms(alarms) {
  const heads = alarms.map(([head]) => head).join(" ");
  document.title = alarms.length ? `⚠ ${heads}` : title;
  const box = at("alarms");
  if (box.dataset.heads !== heads) {
    box.dataset.heads = heads;
    box.replaceChildren(...alarms.map(([head]) => alarm(head)));
  }
  alarms.forEach(([, words], index) => say(box.children[index].lastElementChild, words));
}

function alarm(head) {
  return element("div", { class: "note note-bad alarm" }, element("p", {}, element("strong", {}, head)), element("p", { "aria-live": "off" }));
}

const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

function trouble(refusal) {
  document.body.setAttribute("data-stale", "");
  if (refusal.status === 401) return sayEnded("Your session has ended.", true);
  if (refusal.status === 403) return sayEnded(refusal.message, false);
  const since = readAt ? ` The numbers are those of ${readAt.toLocaleTimeString()}.` : "";
  return say(at("as-of"), `${refusal.message}${since} Asking again…`);
}

function sayEnded(words, canSignIn) {
  say(at("as-of"), words);
  if (canSignIn) at("as-of").append(" ", element("a", { href: "/sign-in/?next=/operations/" }, "Sign in again"));
}
