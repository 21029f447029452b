// Follows a job until it ends: often while something moves, seldom while it waits.

import { call, Refusal } from "./api.js";

const SHORTEST_MS = 1000;
const LONGEST_MS = 5000;
const GROWTH = 1.5;
// However many jobs one page follows, it asks no more than some seven times a second.
const SHARE_MS = 150;
let followed = 0;

/** Calls `onJob` with every state that was read and answers with the last. Throws only what ends the following. */
export async function follow(url, onJob) {
  followed += 1;
  try {
    return await untilFinished(url, onJob);
  } finally {
    followed -= 1;
  }
}

async function untilFinished(url, onJob) {
  let pause = SHORTEST_MS;
  let before = "";
  for (;;) {
    const job = await readOrNull(url);
    const now = job && JSON.stringify([job.state, job.progress, job.waiting_for]);
    if (job) onJob(job);
    if (job?.finished_at) return job;
    pause = now && now !== before ? SHORTEST_MS : Math.min(LONGEST_MS, pause * GROWTH);
    before = now || before;
    const turn = Math.max(pause, followed * SHARE_MS);
    await new Promise((resolve) => setTimeout(resolve, turn));
  }
}

/** Null while the server is not there: the job goes on without us, and so does the following. */
async function readOrNull(url) {
  try {
    return await (await call(url)).json();
  } catch (error) {
    if (error instanceof Refusal && (error.isTemporary || error.status >= 500)) return null;
    throw error;
  }
}
