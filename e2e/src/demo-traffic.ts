import { setInterval } from 'node:timers/promises';
import { KEY_HEADER } from './pipeline.ts';

/** A gateway that does not respond must not collect requests without end. */
const MAX_IN_FLIGHT = 64;

const REQUESTS = [
  {
    path: '/openai/v1/chat/completions',
    headers: { authorization: 'Bearer sk-demo-000000000000' },
    body: { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Describe this shop window' }] },
  },
  {
    path: '/anthropic/v1/messages',
    headers: { 'x-api-key': 'sk-demo-000000000000', 'anthropic-version': '2023-06-01' },
    body: {
      model: 'claude-sonnet-5',
      max_tokens: 64,
      stream: true,
      messages: [{ role: 'user', content: 'Which colour is the door?' }],
    },
  },
];

export interface TrafficOptions {
  readonly gatewayUrls: readonly string[];
  readonly token: string;
  readonly perSecond: number;
  /** Ends it. */
  readonly signal: AbortSignal;
}

/** Sends exchanges of both providers to all gateways in turn, until it is ended; resolves with how many were completed and how many failed. */
export async function sendTraffic({ gatewayUrls, token, perSecond, signal }: TrafficOptions) {
  const figures = { completed: 0, failed: 0 };
  const inFlight = new Set<Promise<void>>();
  let sent = 0;
  const send = async () => {
    const { path, headers, body } = REQUESTS[sent % REQUESTS.length] ?? { path: '', headers: {}, body: {} };
    const url = `${gatewayUrls[Math.floor(sent / REQUESTS.length) % gatewayUrls.length]}${path}`;
    sent += 1;
    const all = { ...headers, 'content-type': 'application/json', [KEY_HEADER]: token };
    const response = await fetch(url, { method: 'POST', headers: all, body: JSON.stringify(body) });
    await response.arrayBuffer();
    figures[response.ok ? 'completed' : 'failed'] += 1;
  };
  try {
    for await (const _ of setInterval(1_000 / perSecond, undefined, { signal })) {
      if (inFlight.size >= MAX_IN_FLIGHT) continue;
      const exchange = send()
        .catch(() => void (figures.failed += 1))
        .finally(() => inFlight.delete(exchange));
      inFlight.add(exchange);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  await Promise.all(inFlight);
  return figures;
}
