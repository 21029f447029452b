// Uploads and questions at open rates: each arrives when its time has come, whether or not those before are answered.
// Every answer is named on the console as one JSON line, so that afterwards each can be looked for.
import http from 'k6/http';
import exec from 'k6/execution';
import { SharedArray } from 'k6/data';

const versions = new SharedArray('versions', () => JSON.parse(open(__ENV.VERSIONS)));
const asked = new SharedArray('questions', () => JSON.parse(open(__ENV.QUESTIONS)));
const bearer = { Authorization: `Bearer ${__ENV.TOKEN}` };

const arrivals = (name, rate, seconds) => ({
  executor: 'constant-arrival-rate', exec: name, rate, timeUnit: '1m', duration: `${seconds}s`,
  preAllocatedVUs: 30, maxVUs: 200, gracefulStop: '90s',
});

const scenarios = {};
if (Number(__ENV.UPLOAD_RATE) > 0) {
  scenarios.upload = arrivals('upload', Number(__ENV.UPLOAD_RATE), Number(__ENV.UPLOAD_SECONDS));
}
if (Number(__ENV.QUESTION_RATE) > 0) {
  scenarios.ask = arrivals('ask', Number(__ENV.QUESTION_RATE), Number(__ENV.QUESTION_SECONDS));
}
export const options = { scenarios, summaryTrendStats: ['med', 'p(95)', 'p(99)'] };

function note(kind, number, began, answer, more) {
  console.log(JSON.stringify({
    kind, number, at: began / 1000, ms: answer.timings.duration + answer.timings.connecting, status: answer.status,
    ...more,
  }));
}

function body(answer) {
  try { return answer.json() || {}; } catch (_) { return {}; }
}

export function upload() {
  const number = exec.scenario.iterationInTest;
  const version = versions[number % versions.length];
  const began = Date.now();
  const answer = http.post(`${__ENV.API}/v1/documents/${version.slug}/versions`, version.text, {
    headers: { ...bearer, 'Content-Type': 'text/markdown', 'Idempotency-Key': `upload-${number}` }, timeout: '60s',
  });
  const found = body(answer);
  note('upload', number, began, answer, {
    slug: version.slug, job: found.job ? found.job.id : null, code: found.code || null,
    retry_after: answer.headers['Retry-After'] ? Number(answer.headers['Retry-After']) : null,
  });
}

export function ask() {
  const number = exec.scenario.iterationInTest;
  const began = Date.now();
  const answer = http.post(`${__ENV.API}/v1/answers`, JSON.stringify({ question: asked[number % asked.length] }), {
    headers: { ...bearer, 'Content-Type': 'application/json' }, timeout: '60s',
  });
  const found = body(answer);
  note('question', number, began, answer, {
    code: found.code || null, is_cached: Boolean(found.cached), citations: (found.citations || []).length,
    newer_pending: (found.newer_pending || []).length,
  });
}
