// Dead letters: how many of which error, the newest, and another chance for each.

import { call, Refusal } from "./api.js";
import { element, say } from "./dom.js";
import { duration } from "./words.js";

const at = (id) => document.getElementById(id);
const blank = at("letter");

/** The keyboard stays at the same dead letter, or, when that is gone, at their heading. */
function refocus(box, job) {
  const row = box.querySelector(`[data-job="${CSS.escape(job)}"]`);
  (row?.querySelector("button") || at("letters-heading")).focus();
}

export class DeadLetters {
  /** `onRetried` is called after a try to revive one, so that the numbers are asked for at once. */
  constructor(onRetried) {
    this.onRetried = onRetried;
    // What was built, by queue: a list that has not changed keeps its buttons and the focus.
    this.shown = {};
  }

  show(queues) {
    const all = Object.entries(queues);
    for (const [name, queue] of all) this.showQueue(name, queue);
    at("no-letters").hidden = all.some(([, queue]) => queue.dead_letters);
  }

  showQueue(name, queue) {
    const { newest, errors } = queue.letters;
    const now = JSON.stringify([queue.dead_letters, errors, newest.map((one) => [one.id, one.attempt, one.finished_at])]);
    if (this.shown[name] === now) return;
    this.shown[name] = now;
    const box = at(`letters-${name}`);
    const focused = box.contains(document.activeElement) ? document.activeElement.closest(".letter")?.dataset.job : null;
    if (queue.dead_letters) this.build(box, name, queue);
    else box.replaceChildren();
    if (focused) refocus(box, focused);
  }

  build(box, name, queue) {
    const { newest, errors } = queue.letters;
    const rows = newest.map((one) => this.row(one, box.dataset.admin));
    const head = element("h3", {}, `${name}: ${queue.dead_letters.toLocaleString("en-GB")}`);
    const kinds = element("p", { class: "facts" }, ...errors.map((one) => element("span", {}, `${one.code} ${one.jobs.toLocaleString("en-GB")}`)));
    box.replaceChildren(head, kinds, element("ul", { class: "letter-list" }, ...rows), ...this.rest(box, name, queue, rows.length));
  }

  /** Where the others are: the newest few are shown, however many there are. */
  rest(box, name, queue, shown) {
    if (queue.dead_letters <= shown) return [];
    const words = `The newest ${shown} of ${queue.dead_letters.toLocaleString("en-GB")} are shown.`;
    const line = element("p", { class: "hint" }, words);
    if (box.dataset.admin) {
      line.append(" ", element("a", { href: `${box.dataset.admin}?state__exact=dead_letter&queue__exact=${name}` }, "All of them in the admin"));
    } else {
      line.append(" ", element("code", {}, `manage.py retryjob --all --queue ${name}`), " retries all.");
    }
    return [line];
  }

  /** `admin` is the list in the admin, where the person may see it: there the event's payload is repaired. */
  row(one, admin) {
    const made = blank.content.firstElementChild.cloneNode(true);
    made.dataset.job = one.id;
    const part = (name) => made.querySelector(`[data-part="${name}"]`);
    part("subject").append(admin ? element("a", { href: `${admin}${one.id}/change/` }, one.subject) : one.subject);
    part("error").textContent = one.error;
    part("detail").textContent = one.detail;
    const seconds = Math.max(1, (Date.now() - new Date(one.finished_at)) / 1000);
    part("ended").textContent = `gave up ${duration(seconds)} ago`;
    const button = part("retry");
    button.setAttribute("aria-label", `Retry ${one.subject}`);
    button.addEventListener("click", () => this.retry(one, button));
    return made;
  }

  async retry(one, button) {
    if (button.ariaDisabled === "true") return;
    // Not really disabled: that would take the focus away from a keyboard.
    button.ariaDisabled = "true";
    say(at("retry-said"), `Retrying ${one.subject}…`);
    try {
      await call(`/v1/jobs/${one.id}/retry`, { method: "POST" });
      say(at("retry-said"), `${one.subject} is queued again.`);
    } catch (error) {
      say(at("retry-said"), this.refused(one, error));
      button.ariaDisabled = null;
    }
    this.onRetried();
  }

  refused(one, error) {
    if (!(error instanceof Refusal)) return `${one.subject} could not be retried.`;
    if (error.status === 409) return `${one.subject} was not retried: somebody was faster. ${error.message}`;
    if (error.status === 401) return "Your session has ended; nothing was changed. Sign in again and retry.";
    const later = error.retryAfter ? ` Try again in ${duration(error.retryAfter)}.` : "";
    return `${one.subject} was not retried. ${error.message}${later}`;
  }
}
