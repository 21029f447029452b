// One request after the other over VUS connections for SECONDS: MODE bare, event or batch (of SIZE new events).
import http from 'k6/http';
import { Counter } from 'k6/metrics';

const wanted = new Counter('wanted');
const others = new Counter('others');

export const options = {
  discardResponseBodies: true,
  vus: Number(__ENV.VUS),
  duration: `${__ENV.SECONDS}s`,
  summaryTrendStats: ['med', 'p(95)'],
};

const headers = { Authorization: `Bearer ${__ENV.TOKEN}`, 'Content-Type': 'application/json' };
const size = Number(__ENV.SIZE || 1);

function event(number) {
  return {
    producer: `desk-${__VU}`, event_id: `${__ENV.PASS}-${__ITER}-${number}`, type: 'document.viewed',
    occurred_at: '2026-11-27T09:00:00Z', payload: { document: 'returns', version: 1 },
  };
}

export default function () {
  const events = Array.from({ length: size }, (_, number) => event(number));
  const body = __ENV.MODE === 'batch' ? { events } : events[0];
  const answer = http.post(__ENV.URL, JSON.stringify(body), { headers, timeout: '20s' });
  (answer.status === Number(__ENV.STATUS) ? wanted : others).add(1);
}
