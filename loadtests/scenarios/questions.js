// Question: How long do agents wait for an answer while a burst of new versions uses the same provider quota?
// Workload: More versions at once than the chat quota holds (A9, constructed), and the questions of the policy day's
//   busiest minute (A7).
// Shape: UPLOAD_RATE uploads a minute for UPLOAD_SECONDS, and from the start QUESTION_RATE questions a minute for
//   QUESTION_SECONDS, open arrivals.
// Environment: An installation of its own on loopback for each pass, empty database and cache, provider started anew,
//   the policies published before; read each second: queued, ready, running, oldest age, pace; machine before and after.
export { options, upload, ask } from './arrivals.js';
