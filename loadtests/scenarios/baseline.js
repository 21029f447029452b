// Question: What does an upload see on a normal day, and how long is it from submit to result, when nothing piles up?
// Workload: The busiest minute of a normal day (A2) with the questions of that time (A4), held for the whole pass;
//   the day's mean would bring a single upload in a pass.
// Shape: Steady. UPLOAD_RATE uploads and QUESTION_RATE questions a minute, open arrivals, for UPLOAD_SECONDS.
// Environment: An installation of its own on loopback for each pass, empty database and cache, provider started anew,
//   the policies published before; read each second: queued, ready, running, oldest age, pace; machine before and after.
export { options, upload, ask } from './arrivals.js';
