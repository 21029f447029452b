// Which charts the last hour has.

import { Chart } from "./chart.js";
import { duration } from "./words.js";

const whole = (number) => Math.round(number).toLocaleString("en-GB");
const seconds = (number) => (number < 1 ? `${Math.max(0, number).toFixed(1)} s` : duration(number));
const dollars = (number) => `$${number.toFixed(4)}`;

const QUEUE_CHARTS = [
  ["depth", "unfinished jobs", [["depth", "unfinished", "area"]], whole],
  ["flow", "jobs a minute", [["finished", "finished", "bar"], ["given_up", "given up", "stacked-bad"], ["accepted", "accepted", "line"]], whole],
  ["waits", "time to finish", [["longest_seconds", "longest", "dots"], ["median_seconds", "median", "line"]], seconds],
];
const LANE_SERIES = [["questions", "questions", "stacked-second"], ["bulk", "bulk", "bar"]];
const LANES = { chat: "Chat: requests a minute", embeddings: "Embeddings: tokens a minute" };

export class HourCharts {
  /** `box` is empty and takes the charts. */
  constructor(box) {
    this.box = box;
    this.made = new Map();
  }

  draw(hour) {
    for (const [name, queue] of Object.entries(hour.queues)) {
      const title = name[0].toUpperCase() + name.slice(1);
      for (const [key, words, series, format] of QUEUE_CHARTS) {
        const limit = key === "depth" ? ["bound", queue.bound] : null;
        this.chart(`${name}-${key}`, `${title}: ${words}`, series, format).draw(hour.minutes, queue, limit);
      }
    }
    for (const [name, lane] of Object.entries(hour.provider)) {
      this.chart(`lane-${name}`, LANES[name] || name, LANE_SERIES, whole).draw(hour.minutes, lane, ["limit", lane.limit]);
    }
    this.chart("cost", "Cost a minute", [["cost_usd", "US dollars", "bar"]], dollars).draw(hour.minutes, hour, null);
  }

  chart(key, title, series, format) {
    if (!this.made.has(key)) {
      const chart = new Chart(key, title, series, format);
      this.box.append(chart.figure);
      this.made.set(key, chart);
    }
    return this.made.get(key);
  }
}
