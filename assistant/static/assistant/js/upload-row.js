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
  /** `blank` is the row's empty element; `onRemove` is called when it is taken away, `onChange` with each new state. */
  constructor(file, blank, mostBytes, onRemove, onChange) {
    this.file = file;
    this.element = blank;
    this.mostBytes = mostBytes;
    this.onChange = onChange;
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
    this.part("look").addEventListener("click", () => this.resume());
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
    return this.isBusy || (this.state === "signed-out" && !this.job);
  }

  get isBusy() {
    return this.state === "sending" || this.state === "waiting";
  }

  get canBeSent() {
    return !this.job && ["ready", "refused", "unknown", "signed-out"].includes(this.state);
  }

  /** Shows the row in a state; which buttons it has follows from that. */
  enter(state, message, detail = "") {
    this.stopCounting();
    this.element.dataset.state = state;
    say(this.part("message"), message);
    say(this.part("detail"), detail);
    for (const input of this.form.querySelectorAll("input")) input.readOnly = LOCKED.has(state);
    this.part("send").hidden = !this.canBeSent;
    this.part("send").textContent = state === "ready" ? "Upload" : "Try again";
    this.part("look").hidden = !(state === "signed-out" && this.job);
    this.part("stop").hidden = state !== "waiting";
    this.part("countdown").hidden = state !== "waiting";
    this.part("fields").hidden = Boolean(this.job);
    this.part("remove").hidden = this.isBusy || state === "following";
    this.part("sign-in").hidden = state !== "signed-out";
    this.onChange();
  }

  async send() {
    if (this.job || this.isBusy || !this.form.reportValidity()) return;
    if (this.file.size > this.mostBytes) {
      this.enter("refused", "The file is too large.", `It has ${size(this.file.size)}; at most ${size(this.mostBytes)} are accepted.`);
      return;
    }
    this.enter("sending", "Sending…");
    try {
      this.accepted(await this.post());
    } catch (error) {
      this.refused(error instanceof Refusal ? error : new Refusal(0, { detail: "The file could not be sent." }));
    }
  }

  /** The bytes, read before anything is sent: a file that has gone since it was chosen is no fault of the server. */
  async content() {
    try {
      return await this.file.arrayBuffer();
    } catch {
      throw new Refusal(-1, { detail: "The file can’t be read: it was moved or changed, or it is a folder. Choose it again." });
    }
  }

  async post() {
    const type = TYPES[this.file.name.toLowerCase().split(".").pop()] || this.file.type;
    const body = new FormData();
    body.append("file", new File([await this.content()], this.file.name, { type }));
    const { slug, title } = this.form.elements;
    if (title.value.trim()) body.append("title", title.value.trim());
    const headers = { "Idempotency-Key": this.key };
    const response = await call(`/v1/documents/${encodeURIComponent(slug.value)}/versions`, { method: "POST", headers, body });
    return response.json();
  }

  refused(refusal) {
    if (refusal.isTemporary) return this.waitToTry(refusal);
    // A fault after the request was read may have left it accepted: the key decides at the next try.
    if (refusal.status === 401) return this.signedOut("The file was not accepted yet. It is kept here; sign in, and it can be sent.");
    this.enter(refusal.status >= 500 ? "unknown" : "refused", refusal.message);
    return undefined;
  }

  signedOut(detail) {
    this.enter("signed-out", "Your session has ended.", detail);
  }

  /** Goes on where the end of the session stopped it. */
  resume() {
    if (this.state !== "signed-out") return;
    if (this.job) this.follow();
    else this.send();
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
    this.estimate = answer.estimate;
    await this.follow();
  }

  async follow() {
    this.enter("following", `Accepted as version ${this.version}.`, estimateWords(this.estimate));
    try {
      this.ended(await follow(this.job.url, (job) => this.show(job)));
    } catch (error) {
      if (error.status === 401) this.signedOut("The file is accepted and goes on without this page; sign in to see how far it is.");
      else this.enter("ended", "The file is accepted, but its progress can no longer be read.", error.message);
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
