// Who works, and on what.

import { element } from "./dom.js";
import { duration } from "./words.js";

/** The list is built anew each time; nothing in it holds the focus but links, and those are kept in their place. */
export function showWorkers(list, workers) {
  const focused = list.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  const rows = workers.length ? workers.map(row) : [element("li", { class: "hint" }, "No worker has said hello.")];
  list.replaceChildren(...rows);
  if (focused) [...list.querySelectorAll("a")].find((link) => link.getAttribute("href") === focused)?.focus();
}

function row(worker) {
  const state = worker.is_live
    ? element("span", { class: "badge badge-published" }, `${worker.busy} of ${worker.concurrency} busy`)
    : element("span", { class: "badge badge-failed" }, `silent for ${duration(worker.seen_seconds)}`);
  const head = element("div", { class: "heading-line" }, element("h3", {}, worker.name), state);
  const facts = element("p", { class: "facts" }, element("span", {}, worker.queues.join(" and ")), element("span", {}, `since ${new Date(worker.started_at).toLocaleString()}`));
  const made = element("li", { class: "sheet worker" }, head, facts, work(worker));
  made.dataset.live = worker.is_live;
  return made;
}

function work(worker) {
  if (!worker.jobs.length) return element("p", { class: "hint" }, worker.is_live ? "Waits for work." : "");
  const more = worker.busy - worker.jobs.length;
  const rows = worker.jobs.map(job);
  if (more > 0) rows.push(element("li", { class: "hint" }, `and ${more} more`));
  return element("ul", { class: "work" }, ...rows);
}

function job(one) {
  const name = one.document ? element("a", { href: `/documents/${encodeURIComponent(one.document)}/` }, one.subject) : element("span", {}, one.subject);
  const seconds = one.started_at ? Math.max(0, (Date.now() - new Date(one.started_at)) / 1000) : 0;
  const words = [one.total ? `${one.done} of ${one.total} chunks` : "", `for ${duration(seconds)}`, one.attempt > 1 ? `try ${one.attempt} of ${one.max_attempts}` : ""];
  return element("li", {}, name, " ", element("span", { class: "hint" }, words.filter(Boolean).join(", ")));
}
