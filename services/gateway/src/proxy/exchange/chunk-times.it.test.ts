import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { startTestGateway, type TestGateway } from '../../testing/start-test-gateway.ts';

const EVENTS = ['data: {"model":"gpt-4o-mini"}\n\n', 'data: {"choices":[]}\n\n', 'data: [DONE]\n\n'];
/** Long enough that rounding never makes it 0. */
const GAP_MS = 3;

let contentType = 'text/event-stream';
let sending: ServerResponse | undefined;
const provider = createServer((request, response) => {
  request.resume();
  response.writeHead(200, { 'content-type': contentType });
  response.flushHeaders();
  sending = response;
});
beforeAll(async () => {
  provider.listen(0, '127.0.0.1');
  await once(provider, 'listening');
});
afterAll(() => {
  provider.closeAllConnections();
  provider.close();
});

const startGateway = (settings: NodeJS.ProcessEnv = {}): Promise<TestGateway> => {
  const { port } = provider.address() as AddressInfo;
  return startTestGateway({ SVC_PROVIDERS_OPENAI_UPSTREAM: `http://127.0.0.1:${port}`, ...settings });
};

/** Sends an event when the one before has reached the client, and returns the trace. */
async function streamed(gateway: TestGateway, count: number) {
  const response = await fetch(`${gateway.url}/openai/v1/chat/completions`, { method: 'POST', body: '{}' });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  for (const event of EVENTS) {
    sending?.write(event);
    let received = 0;
    while (received < event.length) received += (await reader.read()).value?.length ?? event.length;
    await setTimeout(GAP_MS);
  }
  sending?.end();
  await reader.read();
  return gateway.newest(count);
}

test('with bodies a stream has the offset of each chunk, and the time since the request', async () => {
  await using gateway = await startGateway({ SVC_TRACING_CAPTURE_BODIES: 'true' });
  contentType = 'text/event-stream';
  const trace = await streamed(gateway, 1);
  const times = trace.metadata['chunk_times'] as [number, number][];
  expect(times.map(([offset]) => offset)).toEqual([0, EVENTS[0]?.length, EVENTS.slice(0, 2).join('').length]);
  expect(times[0]?.[1]).toBe(trace.time_to_first_token_ms);
  expect((times[2]?.[1] ?? 0) - (times[0]?.[1] ?? 0)).toBeGreaterThanOrEqual(2);
  expect(times[2]?.[1]).toBeLessThanOrEqual(trace.latency_ms);
  contentType = 'application/json';
  expect((await streamed(gateway, 2)).metadata).not.toHaveProperty('chunk_times');
});

test('without bodies no times are recorded', async () => {
  await using gateway = await startGateway();
  contentType = 'text/event-stream';
  expect((await streamed(gateway, 1)).metadata).not.toHaveProperty('chunk_times');
});
