// Counting down to a moment, by the clock: a page that slept in the background is right when it wakes.

/** Calls `onSecond(left)` now and each second, then `onEnd()` once. Returns what stops it. */
export function countDown(seconds, onSecond, onEnd) {
  const end = Date.now() + seconds * 1000;
  let timer = 0;
  const tick = () => {
    const left = Math.ceil((end - Date.now()) / 1000);
    if (left <= 0) return onEnd();
    onSecond(left);
    timer = setTimeout(tick, Math.min(1000, end - Date.now()));
  };
  tick();
  return () => clearTimeout(timer);
}
