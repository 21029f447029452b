// One request after the other over VUS connections for SECONDS: MODE bare, event or batch (of SIZE new events),
// or upload (8 KiB of new Markdown, each under a new slug below URL).
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

const paragraph = `${'Goods may be returned while the receipt is at hand. '.repeat(157)}\n`;

function upload() {
  const slug = `p-${__ENV.PASS}-${__VU}-${__ITER}`.toLowerCase();
  return http.post(`${__ENV.URL}/${slug}/versions`, `# ${slug}\n\n${paragraph}`, {
    headers: { ...headers, 'Content-Type': 'text/markdown' }, timeout: '20s',
  });
}

function send() {
  const events = Array.from({ length: size }, (_, number) => event(number));
  const body = __ENV.MODE === 'batch' ? { events } : events[0];
  return http.post(__ENV.URL, JSON.stringify(body), { headers, timeout: '20s' });
}

export default function () {
  const answer = __ENV.MODE === 'upload' ? upload() : send();
  (answer.status === Number(__ENV.STATUS) ? wanted : others).add(1);
}
