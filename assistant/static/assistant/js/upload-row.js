// One chosen file: sent, refused and tried again, accepted, followed to its end.

import { call, newKey, Refusal } from "./api.js";
import { countDown } from "./countdown.js";
import { say } from "./dom.js";
import { follow } from "./following.js";
import { duration, endWords, estimateWords, liveWords, size, slugOf } from "./words.js";

const TYPES = { md: "text/markdown", markdown: "text/markdown", txt: "text/plain" };
// Without a Retry-After: after this, doubled for each failure in a row.
const FIRST_PAUSE = 2;
const LONGEST_PAUSE = 60;
// What is locked: the request must stay the same while the server may already have accepted it.
const LOCKED = new Set(["sending", "waiting", "unknown", "following", "published", "ended"]);

export class UploadRow {
  /** `blank` is the row's empty element; `onRemove` is called when the person takes the file away. */
  constructor(file, blank, mostBytes, onRemove) {
    this.file = file;
    this.element = blank;
    this.mostBytes = mostBytes;
    // One key for the file: however often it is sent, one version comes of it.
    this.key = newKey();
    this.job = null;
    this.failures = 0;
    this.stopCounting = () => {};
    this.part("name").textContent = file.name;
    this.part("size").textContent = size(file.size);
    this.form = blank.querySelector("form");
    this.form.elements.slug.value = slugOf(file.name);
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.send();
    });
    this.part("stop").addEventListener("click", () => this.stop());
    this.part("remove").addEventListener("click", () => {
      this.element.remove();
      onRemove(this);
    });
    this.enter("ready", "");
  }

  part(name) {
    return this.element.querySelector(`[data-part="${name}"]`);
  }

  get state() {
    return this.element.dataset.state;
  }

  /** Leaving the page now would lose the file. */
  get isUnsafeToLeave() {
    return this.state === "sending" || this.state === "waiting";
  }

  get canBeSent() {
    return ["ready", "refused", "unknown"].includes(this.state);
  }

  /** Shows the row in a state; which buttons it has follows from that. */
  enter(state, message, detail = "") {
    this.stopCounting();
    this.element.dataset.state = state;
    say(this.part("message"), message);
    say(this.part("detail"), detail);
    for (const input of this.form.querySelectorAll("input")) input.readOnly = LOCKED.has(state);
    this.part("send").hidden = !this.canBeSent || Boolean(this.job);
    this.part("send").textContent = state === "ready" ? "Upload" : "Try again";
    this.part("stop").hidden = state !== "waiting";
    this.part("countdown").hidden = state !== "waiting";
    this.part("fields").hidden = Boolean(this.job);
    this.part("remove").hidden = this.isUnsafeToLeave || state === "following";
    this.part("sign-in").hidden = true;
  }

  async send() {
    if (this.job || this.isUnsafeToLeave || !this.form.reportValidity()) return;
    if (this.file.size > this.mostBytes) {
      this.enter("refused", "The file is too large.", `It has ${size(this.file.size)}; at most ${size(this.mostBytes)} are accepted.`);
      return;
    }
    this.enter("sending", "Sending…");
    try {
      this.accepted(await this.post());
    } catch (error) {
      this.refused(error instanceof Refusal ? error : new Refusal(0, { detail: "The file could not be read or sent." }));
    }
  }

  async post() {
    const type = TYPES[this.file.name.toLowerCase().split(".").pop()] || this.file.type;
    const body = new FormData();
    body.append("file", new File([this.file], this.file.name, { type }));
    const { slug, title } = this.form.elements;
    if (title.value.trim()) body.append("title", title.value.trim());
    const headers = { "Idempotency-Key": this.key };
    const response = await call(`/v1/documents/${encodeURIComponent(slug.value)}/versions`, { method: "POST", headers, body });
    return response.json();
  }

  refused(refusal) {
    if (refusal.isTemporary) return this.waitToTry(refusal);
    // A fault after the request was read may have left it accepted: the key decides at the next try.
    this.enter(refusal.status >= 500 ? "unknown" : "refused", refusal.status === 401 ? "Your session has ended." : refusal.message);
    this.part("sign-in").hidden = refusal.status !== 401;
    return undefined;
  }

  waitToTry(refusal) {
    const pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** this.failures);
    this.failures += 1;
    this.enter("waiting", refusal.message, "The file is sent again by itself.");
    this.stopCounting = countDown(
      refusal.retryAfter ?? pause,
      (left) => (this.part("countdown").textContent = `next try in ${duration(left)}`),
      () => {
        this.enter("ready", refusal.message);
        this.send();
      },
    );
  }

  stop() {
    this.enter("unknown", "Stopped. The file was not accepted yet.");
  }

  async accepted(answer) {
    this.job = answer.job;
    this.version = answer.version.number;
    const link = this.part("document");
    link.href = `/documents/${encodeURIComponent(answer.document.slug)}/`;
    link.hidden = false;
    this.enter("following", `Accepted as version ${this.version}.`, estimateWords(answer.estimate));
    try {
      this.ended(await follow(answer.job.url, (job) => this.show(job)));
    } catch (error) {
      const why = error.status === 401 ? "Your session has ended." : error.message;
      this.enter("ended", "The file is accepted, but its progress can no longer be read.", why);
      this.part("sign-in").hidden = error.status !== 401;
    }
  }

  show(job) {
    if (job.finished_at) return;
    say(this.part("message"), liveWords(job, this.version));
    const tries = job.attempt > 1 ? ` Try ${job.attempt} of ${job.max_attempts}.` : "";
    say(this.part("detail"), `${estimateWords(job.estimate)}${tries}`.trim());
    this.showProgress(job.progress);
  }

  showProgress(progress) {
    this.part("course").hidden = !progress?.total;
    if (!progress?.total) return;
    const bar = this.element.querySelector("progress");
    bar.max = progress.total;
    bar.value = progress.done;
    say(this.part("counts"), `${progress.done} of ${progress.total} ${progress.unit}`);
  }

  ended(job) {
    this.showProgress(job.progress);
    const reason = job.error?.detail || job.error?.code || "";
    this.enter(job.state === "succeeded" ? "published" : "ended", endWords(job, this.version), reason);
  }
}
