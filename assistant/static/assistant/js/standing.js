// Queues and provider as bars and figures.

import { element, say } from "./dom.js";
import { duration, size } from "./words.js";

const PROVIDER = { ok: "works", open: "breaker open", half_open: "breaker tries one call", paused: "paused" };
const LANES = { chat: ["Chat", "requests"], embeddings: ["Embeddings", "tokens"] };
const whole = (number) => Math.round(number).toLocaleString("en-GB");

export function showQueue(panel, queue) {
  const state = stateOf(queue);
  badge(panel, ...state);
  const { depth, bound } = queue;
  meter(panel, "jobs", "Jobs", [depth.jobs], bound.jobs, `${whole(depth.jobs)} of ${whole(bound.jobs)}`);
  meter(panel, "units", "Work units", [depth.units], bound.units, `${whole(depth.units)} of ${whole(bound.units)}`);
  meter(panel, "bytes", "Bytes", [depth.bytes], bound.bytes, `${size(depth.bytes)} of ${size(bound.bytes)}`);
  figures(panel, [
    ["Oldest", depth.jobs ? duration(queue.oldest_age_seconds) : "–"],
    ["Pace", `${queue.pace_per_minute.toLocaleString("en-GB", { maximumFractionDigits: 1 })} a minute`],
    ["Empty in", drain(queue)],
    ["Running", whole(queue.running)],
    ["Ready", whole(queue.ready)],
    ["Waiting", whole(queue.queued - queue.ready)],
    ["Workers", whole(queue.workers)],
    ["Dead letters", whole(queue.dead_letters)],
  ]);
}

function drain(queue) {
  if (!queue.depth.jobs) return "empty";
  return queue.drain_seconds === null ? "it grows" : duration(queue.drain_seconds);
}

function stateOf(queue) {
  if (queue.stalled) return ["stands still", "badge-failed"];
  if (queue.is_draining) return ["draining: nothing is accepted", "badge-wait"];
  return queue.accepting ? ["accepting", "badge-published"] : ["full", "badge-failed"];
}

export function showProvider(panel, provider, cost) {
  const isWell = provider.state === "ok";
  badge(panel, PROVIDER[provider.state] || provider.state, isWell ? "badge-published" : "badge-failed");
  const reason = panel.querySelector('[data-part="reason"]');
  reason.hidden = isWell;
  const next = provider.next_at ? ` Next try at ${new Date(provider.next_at).toLocaleTimeString()}.` : "";
  say(reason, isWell ? "" : `${provider.reason || ""}${next}`.trim());
  for (const [name, lane] of Object.entries(provider.lanes)) showLane(panel, name, lane);
  figures(panel, [["Cost today", `$${Number(cost).toFixed(4)}`]]);
}

/** What the bucket lacks, divided as the last minute's use was: the part of questions first. */
function showLane(panel, name, lane) {
  const [title, unit] = LANES[name];
  const asked = lane.questions + lane.bulk;
  const questions = asked ? (lane.used * lane.questions) / asked : 0;
  const words = `${whole(lane.used)} of ${whole(lane.limit)} ${unit} used, ${whole(lane.left)} left`;
  meter(panel, name, title, [questions, lane.used - questions], lane.limit, words);
  const detail =
    `Last minute: questions ${whole(lane.questions)}, bulk ${whole(lane.bulk)}. ` +
    `Bulk may take ${whole(lane.left_bulk)} now; ${whole(lane.kept_for_questions)} are kept for questions.`;
  say(panel.querySelector(`[data-meter="${name}"] .meter-detail`), lane.blocked ? `${detail} Held back by the provider.` : detail);
}

function badge(panel, words, kind) {
  const made = panel.querySelector('[data-part="state"]');
  made.className = `badge ${kind}`;
  say(made, words);
}

/** A bar of one or two parts; made once and then only moved. */
function meter(panel, key, label, parts, most, words) {
  const box = panel.querySelector('[data-part="meters"]');
  let made = box.querySelector(`[data-meter="${key}"]`);
  if (!made) box.append((made = blankMeter(key, label, parts.length)));
  const bar = made.querySelector('[role="meter"]');
  const value = parts.reduce((sum, part) => sum + part, 0);
  bar.setAttribute("aria-valuemax", most);
  bar.setAttribute("aria-valuenow", Math.min(value, most));
  bar.setAttribute("aria-valuetext", words);
  bar.toggleAttribute("data-full", value >= most);
  [...bar.children].forEach((part, index) => (part.style.width = `${Math.min(100, (100 * parts[index]) / most)}%`));
  say(made.querySelector(".meter-words"), words);
}

function blankMeter(key, label, parts) {
  const bar = element("div", { class: "meter", role: "meter", "aria-label": label, "aria-valuemin": "0" });
  bar.append(...Array.from({ length: parts }, (_, index) => element("span", { class: parts === 2 && !index ? "part-second" : "" })));
  const head = element("div", { class: "heading-line" }, element("span", {}, label), element("span", { class: "meter-words" }));
  return element("div", { class: "meter-line", "data-meter": key }, head, bar, element("p", { class: "hint meter-detail" }));
}

function figures(panel, rows) {
  const list = panel.querySelector('[data-part="figures"]');
  if (list.children.length !== rows.length) {
    list.replaceChildren(...rows.map(([name]) => element("div", {}, element("dt", {}, name), element("dd"))));
  }
  rows.forEach(([, words], index) => say(list.children[index].lastElementChild, words));
}
