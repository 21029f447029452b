// Question: Above the bound, is every event either kept or clearly refused, and does the backlog drain as computed?
// Workload: The exercise's own numbers: a burst of events far above what is completed, then a calm rate (constructed;
//   the pace of completions is set, as a slow downstream would set it).
// Shape: Flood and recovery. RATE events a second for BURST seconds, then CALM a second for CALM_SECONDS, open arrivals.
// Environment: An installation of its own on loopback, empty database and cache, provider started anew; read each
//   second: queued, ready, running, oldest age, pace; machine before and after.
//
// The flood: RATE events a second for BURST seconds, then CALM a second for CALM_SECONDS. Nothing is sent twice.
// Every event that was acknowledged is named on the console, so that afterwards each can be looked for.
import http from 'k6/http';
import { Counter } from 'k6/metrics';

const counters = {};
for (const phase of ['flood', 'calm']) {
  for (const outcome of ['accepted', 'rejected', 'unanswered', 'other']) {
    counters[`${phase}_${outcome}`] = new Counter(`${phase}_${outcome}`);
  }
}

const arrivals = (exec, rate, seconds, start) => ({
  executor: 'constant-arrival-rate', exec, rate, timeUnit: '1s', duration: `${seconds}s`, startTime: `${start}s`,
  preAllocatedVUs: 40, maxVUs: 300, gracefulStop: '30s',
});

export const options = {
  discardResponseBodies: true,
  summaryTrendStats: ['med', 'p(95)', 'p(99)', 'max'],
  scenarios: {
    flood: arrivals('flood', Number(__ENV.RATE), Number(__ENV.BURST), 0),
    calm: arrivals('calm', Number(__ENV.CALM), Number(__ENV.CALM_SECONDS), Number(__ENV.BURST)),
  },
};

const headers = { Authorization: `Bearer ${__ENV.TOKEN}`, 'Content-Type': 'application/json' };

function send(phase) {
  const id = `${phase}-${__VU}-${__ITER}`;
  const answer = http.post(`${__ENV.API}/v1/events`, JSON.stringify({
    producer: `desk-${__VU % 20}`, event_id: id, type: 'document.viewed', occurred_at: '2026-11-27T09:00:00Z',
    payload: { document: 'returns', version: 1 },
  }), { headers, timeout: '20s' });
  const outcome = { 202: 'accepted', 503: 'rejected', 429: 'rejected', 0: 'unanswered' }[answer.status] || 'other';
  counters[`${phase}_${outcome}`].add(1);
  if (outcome === 'accepted') console.log(`desk-${__VU % 20} ${id}`);
}

export function flood() { send('flood'); }
export function calm() { send('calm'); }
