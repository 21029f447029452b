// Numbers and states in words. Pure.

const BASES = { measured: "from the measured pace", assumed: "assumed, no pace is measured yet" };
const AGES = [["year", 31556952], ["month", 2629746], ["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
// Letters that have no accent to take off.
const LETTERS = { ß: "ss", æ: "ae", œ: "oe", ø: "o", ł: "l", đ: "d", þ: "th", ð: "d" };
const WAITS = {
  backoff: "Waits before the next try",
  provider_quota: "Waits for the provider’s quota",
  provider_outage: "Waits for the provider, which does not work now",
};
const ENDS = {
  failed: "Failed; another try would not help.",
  dead_letter: "Gave up after all tries; an operator can start it again.",
  cancelled: "Cancelled.",
  expired: "Its deadline passed before it was begun.",
};

export function duration(seconds) {
  if (seconds < 60) return `${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min${seconds % 60 >= 1 && seconds < 600 ? ` ${Math.round(seconds % 60)} s` : ""}`;
  if (seconds >= 172800) return `${Math.floor(seconds / 86400)} days`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

/** How long ago, in one unit: “40 seconds”, “3 days”. */
export function age(moment) {
  const seconds = Math.max(1, (Date.now() - new Date(moment)) / 1000);
  const [unit, length] = AGES.find(([, least]) => seconds >= least);
  const number = Math.floor(seconds / length);
  return `${number} ${unit}${number === 1 ? "" : "s"}`;
}

export function size(bytes) {
  if (bytes < 1024) return `${bytes} bytes`;
  return bytes < 1048576 ? `${(bytes / 1024).toFixed(1)} KB` : `${(bytes / 1048576).toFixed(1)} MB`;
}

/** “About 42 s (20 s to 75 s, from the measured pace)”; empty when nothing is left to wait. */
export function estimateWords(estimate) {
  if (!estimate || !estimate.high_seconds) return "";
  const range = `${duration(estimate.low_seconds)} to ${duration(estimate.high_seconds)}`;
  return `About ${duration(estimate.wait_seconds)} (${range}; ${BASES[estimate.basis] || estimate.basis}).`;
}

/** What a live job does now. `version` is the number that it prepares. */
export function liveWords(job, version) {
  if (job.waiting_for) {
    const moment = new Date(job.ready_at || 0);
    const until = moment > new Date() ? ` until ${moment.toLocaleTimeString()}` : "";
    return `${WAITS[job.waiting_for] || job.waiting_for}${until}.`;
  }
  return job.state === "queued" ? `Version ${version} waits for its turn.` : `Version ${version} is being prepared.`;
}

/** How a finished job ended, the reason included. */
export function endWords(job, version) {
  if (job.state === "succeeded") return `Version ${version} is published.`;
  return `Version ${version}: ${ENDS[job.state] || job.state}`;
}

/** A slug from a file's name: lower-case letters, digits and hyphens, at most 100. */
export function slugOf(fileName) {
  const stem = fileName.replace(/\.[^.]*$/, "").normalize("NFKD").toLowerCase();
  const plain = stem.replace(/[\u0300-\u036f]/g, "").replace(/[ßæœøłđþð]/g, (letter) => LETTERS[letter]);
  const slug = plain.replace(/[^a-z0-9]+/g, "-").slice(0, 100);
  return slug.replace(/^-+|-+$/g, "") || "document";
}
