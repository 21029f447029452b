// What stands in the way of an answer, and the one thing to do about it: sign in, wait, or try again.

import { Refusal } from "./api.js";
import { countDown } from "./countdown.js";
import { element } from "./dom.js";
import { keep } from "./keeping.js";
import { duration } from "./words.js";

const box = document.getElementById("trouble");
let stopCounting = () => {};

export function hideTrouble() {
  stopCounting();
  box.hidden = true;
  box.replaceChildren();
}

/** Shows why the question was not answered. `retry` asks it again. */
export function showTrouble(error, question, retry) {
  hideTrouble();
  const refusal = error instanceof Refusal ? error : new Refusal(-1, { detail: "The answer could not be read." });
  box.className = `note ${refusal.isTemporary ? "note-wait" : "note-bad"}`;
  box.hidden = false;
  const said = element("p", { role: "alert" });
  box.append(said);
  said.textContent = refusal.status === 401 ? "Your session has ended. The question is kept." : refusal.message;
  if (refusal.status === 401) return offerSignIn(question);
  if (refusal.status === 403) return undefined;
  return offerRetry(refusal.retryAfter || 0, retry);
}

function offerSignIn(question) {
  keep(question);
  const link = element("a", { href: "/sign-in/?next=/" }, "Sign in again");
  box.append(element("p", {}, link));
}

/** The button is there at once and works when the time has come. */
function offerRetry(seconds, retry) {
  const button = element("button", { type: "button" }, "Ask again");
  const left = element("span", { class: "countdown", role: "timer" });
  button.addEventListener("click", retry);
  const now = element("span", { class: "hint", role: "status" });
  box.append(element("p", { class: "actions" }, button, left, now));
  if (!seconds) return;
  button.disabled = true;
  stopCounting = countDown(
    seconds,
    (rest) => (left.textContent = `possible in ${duration(rest)}`),
    () => {
      button.disabled = false;
      left.textContent = "";
      now.textContent = "It can be asked again now.";
    },
  );
}
