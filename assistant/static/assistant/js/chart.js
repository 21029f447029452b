// One chart over minutes: bars that stack, lines, areas, dots and a limit, a cursor for pointer and keyboard, a table.

import { element } from "./dom.js";
import { shapesOf } from "./shapes.js";

const WIDTH = 600;
const HEIGHT = 120;
const KEYS = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity };
const clock = (minute) => new Date(minute).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });

function drawn(tag, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

export class Chart {
  /** `series`: [key in the values, name, kind]; `format` words a number. */
  constructor(key, title, series, format) {
    Object.assign(this, { series, format, at: null });
    this.svg = drawn("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true", focusable: "false" });
    this.plot = element("div", { class: "plot", tabindex: "0", role: "slider", "aria-label": `${title}, by minute`, "aria-valuemin": "0" });
    this.plot.append(this.svg);
    this.readout = element("p", { class: "readout", "aria-hidden": "true" });
    this.top = element("span", { class: "hint" });
    this.ends = element("p", { class: "axis", "aria-hidden": "true" });
    this.table = element("table");
    this.details = element("details", {}, element("summary", {}, "As a table"), element("div", { class: "wide", tabindex: "0", role: "region", "aria-label": `${title}, as a table` }, this.table));
    const names = element("span", { class: "key" }, ...series.map(([, name, kind]) => element("span", { class: `key-${kind}` }, name)));
    this.figure = element("figure", { class: "hour-chart sheet", id: `chart-${key}` }, element("figcaption", {}, element("h3", {}, title), names), this.top, this.plot, this.ends, this.readout, this.details);
    this.listen();
  }

  listen() {
    this.plot.addEventListener("keydown", (event) => {
      if (!(event.key in KEYS) || !this.minutes) return;
      event.preventDefault();
      this.moveTo((this.at ?? this.minutes.length - 1) + KEYS[event.key]);
    });
    this.plot.addEventListener("pointermove", (event) => {
      const box = this.plot.getBoundingClientRect();
      if (this.minutes) this.moveTo(Math.floor(((event.clientX - box.left) / box.width) * this.minutes.length));
    });
    this.plot.addEventListener("pointerleave", () => this.moveTo(null));
    this.plot.addEventListener("blur", () => this.moveTo(null));
    this.details.addEventListener("toggle", () => this.fillTable());
  }

  /** Shows the values; `limit` is [name, number] or null, and sets the scale where it is near. */
  draw(minutes, values, limit) {
    Object.assign(this, { minutes, values, limit });
    const { shapes, most } = shapesOf(this.series, values, limit, WIDTH, HEIGHT, minutes.length);
    this.svg.replaceChildren(...shapes.map(([tag, attributes]) => drawn(tag, attributes)));
    this.cursor = drawn("rect", { class: "cursor", y: 0, height: HEIGHT, width: WIDTH / minutes.length, visibility: "hidden" });
    this.svg.append(this.cursor);
    const limitWords = limit ? `, ${limit[0]} ${this.format(limit[1])}` : "";
    this.top.textContent = `top of the scale ${this.format(most)}${limitWords}`;
    this.ends.replaceChildren(element("span", {}, clock(minutes[0])), element("span", {}, clock(minutes.at(-1))));
    this.plot.setAttribute("aria-valuemax", minutes.length - 1);
    this.moveTo(this.at);
    this.fillTable();
  }

  /** The minute that is read out; null is the present one, without a cursor. */
  moveTo(index) {
    const last = this.minutes.length - 1;
    this.at = index === null ? null : Math.max(0, Math.min(last, index));
    const shown = this.at ?? last;
    this.cursor.setAttribute("x", (shown * WIDTH) / this.minutes.length);
    this.cursor.setAttribute("visibility", this.at === null ? "hidden" : "visible");
    this.readout.textContent = this.words(shown);
    this.plot.setAttribute("aria-valuenow", shown);
    this.plot.setAttribute("aria-valuetext", this.words(shown));
  }

  words(index) {
    const parts = this.series.map(([key, name]) => `${name} ${this.worded(this.values[key][index])}`);
    return `${clock(this.minutes[index])}: ${parts.join(", ")}`;
  }

  worded(value) {
    return value === null ? "–" : this.format(value);
  }

  /** Only while it is open, the newest minute first. */
  fillTable() {
    if (!this.details.open || !this.minutes) return;
    const head = element("tr", {}, element("th", { scope: "col" }, "Minute"), ...this.series.map(([, name]) => element("th", { scope: "col", class: "number" }, name)));
    const rows = this.minutes.map((minute, index) =>
      element("tr", {}, element("th", { scope: "row" }, clock(minute)), ...this.series.map(([key]) => element("td", { class: "number" }, this.worded(this.values[key][index])))),
    );
    this.table.replaceChildren(element("thead", {}, head), element("tbody", {}, ...rows.reverse()));
  }
}
