// Question: The one of the comparison that runs it: what changes when one setting does?
// Workload: A short run of uploads that arrive faster than they can be worked off (constructed), new versions of the
//   policies or, where nothing is published before, the policies themselves.
// Shape: UPLOAD_RATE uploads a minute for UPLOAD_SECONDS, open arrivals, then nothing until all is finished.
// Environment: An installation of its own on loopback for each pass, empty database and cache, provider started anew,
//   the two configurations in turns; read each second: queued, ready, running, oldest age, pace; machine before and after.
export { options, upload, ask } from './arrivals.js';
