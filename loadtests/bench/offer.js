// New events at RATE a second for SECONDS, answered or not; with RATE 0 one after the other over VUS connections.
import http from 'k6/http';
import { Counter } from 'k6/metrics';

const accepted = new Counter('accepted');

const rate = Number(__ENV.RATE);
const duration = `${__ENV.SECONDS}s`;

export const options = {
  discardResponseBodies: true,
  scenarios: {
    offer: rate
      ? { executor: 'constant-arrival-rate', rate, timeUnit: '1s', duration, preAllocatedVUs: Number(__ENV.VUS) }
      : { executor: 'constant-vus', vus: Number(__ENV.VUS), duration },
  },
};

const headers = { Authorization: `Bearer ${__ENV.TOKEN}`, 'Content-Type': 'application/json' };

export default function () {
  const event = {
    producer: 'bench', event_id: `${__ENV.PASS}-${__VU}-${__ITER}`, type: 'bench.noop', payload: {},
    occurred_at: '2026-11-27T09:00:00Z', partition: `desk-${__VU}`,
  };
  const answer = http.post(__ENV.URL, JSON.stringify(event), { headers, timeout: '20s' });
  accepted.add(answer.status === 202 ? 1 : 0);
}
