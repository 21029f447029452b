// “Was this helpful?”: one press is one rating of this answer by this person, however often it must be sent.

import { call, Refusal } from "./api.js";
import { countDown } from "./countdown.js";
import { say } from "./dom.js";
import { duration } from "./words.js";

const at = (id) => document.getElementById(id);
const box = at("feedback");
const buttons = [...box.querySelectorAll("button")];
const said = at("feedback-said");
let stopCounting = () => {};
// The answer that is rated; a reply that comes after the next question was asked belongs to none.
let rated = null;

export function hideFeedback() {
  stopCounting();
  rated = null;
  box.hidden = true;
}

/** Asks about an answer; one that cites nothing has no document that could be rated. */
export function offerFeedback(question, answer) {
  hideFeedback();
  if (!answer.citations.length) return;
  rated = { question, answer: answer.answer, cited: answer.citations.map(({ document, version }) => ({ document, version })) };
  box.hidden = false;
  setDisabled(false);
  for (const button of buttons) button.setAttribute("aria-pressed", "false");
  say(said, "");
}

for (const button of buttons) {
  button.addEventListener("click", () => send(rated, button));
}

async function send(mine, button) {
  setDisabled(true);
  say(said, "Sending…");
  try {
    const body = JSON.stringify({ ...mine, helpful: button.value === "helpful" });
    const answer = await (await call("/feedback", { method: "POST", headers: { "Content-Type": "application/json" }, body })).json();
    if (mine !== rated) return;
    button.setAttribute("aria-pressed", "true");
    say(said, answer.known ? "You said so before; thank you." : "Thank you; it is counted.");
  } catch (error) {
    if (mine === rated) refused(mine, button, error);
  }
}

function refused(mine, button, error) {
  if (!(error instanceof Refusal)) return ended("The rating could not be sent.", true);
  if (error.status === 401) return ended("Your session has ended; sign in again in another tab, then press once more.", true);
  if (!error.isTemporary) return ended(error.message, error.status >= 500);
  // It waits its turn like every other event, and is sent again by itself under the same identity.
  const seconds = Math.max(1, error.retryAfter ?? 5);
  stopCounting = countDown(
    seconds,
    (left) => say(said, `${error.message} It is sent again in ${duration(left)}.`),
    () => mine === rated && send(mine, button),
  );
  return undefined;
}

function ended(words, canPress) {
  say(said, words);
  setDisabled(!canPress);
}

function setDisabled(disabled) {
  for (const button of buttons) button.disabled = disabled;
}
