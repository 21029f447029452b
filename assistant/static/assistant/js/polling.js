// Asks again and again: while the page is looked at, slower while nobody answers, at once when it is looked at again.

import { call, Refusal } from "./api.js";

const LONGEST_MS = 15000;
// An answer that takes longer belongs to a server in trouble, and a person should hear so.
const PATIENCE_MS = 8000;

/**
 * Calls `onAnswer(value)` with each answer of `path`, and `onTrouble(refusal)` for each try that had none; the next try
 * comes by itself. Ends where a person must act first (401, 403), or when it is told to.
 */
export function poll(path, everyMs, onAnswer, onTrouble = () => {}) {
  let timer = 0;
  let failures = 0;
  let isAsking = false;
  let isOver = false;

  async function ask() {
    if (isAsking || isOver) return;
    clearTimeout(timer);
    isAsking = true;
    try {
      onAnswer(await (await call(path, { signal: AbortSignal.timeout(PATIENCE_MS) })).json());
      failures = 0;
    } catch (error) {
      const refusal = error instanceof Refusal ? error : new Refusal(0, { detail: "The server could not be reached." });
      failures += 1;
      onTrouble(refusal);
      isOver = refusal.status === 401 || refusal.status === 403;
    } finally {
      isAsking = false;
    }
    if (!document.hidden && !isOver) timer = setTimeout(ask, Math.min(LONGEST_MS, everyMs * 2 ** Math.min(failures, 3)));
  }

  document.addEventListener("visibilitychange", () => (document.hidden ? clearTimeout(timer) : ask()));
  ask();
  return { askNow: ask, stop: () => (isOver = true) };
}
