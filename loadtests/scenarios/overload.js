// Question: Above the bound, is every upload either kept or clearly refused, and does the queue stay within its bound?
// Workload: Far above the policy day (A5, A6): a script without pauses, and a bound made small so that it is reached
//   within seconds (constructed). Nobody comes back after a refusal.
// Shape: Overload. UPLOAD_RATE uploads a minute for UPLOAD_SECONDS, open arrivals, then nothing until all is finished.
// Environment: An installation of its own on loopback for each pass, empty database and cache, provider started anew,
//   the policies published before; read each second: queued, ready, running, oldest age, pace; the depth's row read
//   twenty times a second; machine before and after.
export { options, upload, ask } from './arrivals.js';
