// Question: Does the policy day's busiest minute, times the multiple planned for, stay within the promised wait (A8)?
// Workload: The policy day's busiest minute (A5) times the multiple (A6), with the questions of that minute (A7).
// Shape: Burst. UPLOAD_RATE uploads a minute for UPLOAD_SECONDS and QUESTION_RATE questions a minute for
//   QUESTION_SECONDS, open arrivals, from an idle start; then nothing, until all that was accepted is finished.
// Environment: An installation of its own on loopback for each pass, empty database and cache, provider started anew,
//   the policies published before; read each second: queued, ready, running, oldest age, pace; machine before and after.
export { options, upload, ask } from './arrivals.js';
