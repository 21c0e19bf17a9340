import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { rawTalk } from '../../testing/raw-exchange.ts';
import { startTestGateway, type TestGateway } from '../../testing/start-test-gateway.ts';

// Chunks of one read are sent together, and nothing waits for later chunks (docs/design/proxy.md#streaming).

const EVENTS = Array.from({ length: 20 }, (_, index) => `data: {"choices":[{"delta":{"content":"word ${index}"}}]}\n\n`);
const REQUEST = `POST /openai/v1/chat/completions HTTP/1.1\r\nHost: gateway\r\nContent-Length: 2\r\n\r\n{}`;

let contentType = 'text/event-stream';
let afterHead = (send: () => void): void => send();
let afterBurst: (response: ServerResponse) => void;
let gateway: TestGateway;
const provider = createServer((request, response) => {
  request.resume();
  response.writeHead(200, {
    'content-type': contentType,
    ...(contentType === 'application/json' && { 'content-length': '100' }),
  });
  // Each in a separate packet.
  const send = (index: number) => {
    const event = EVENTS[index];
    if (event === undefined) return afterBurst(response);
    response.write(event);
    setImmediate(send, index + 1);
  };
  response.flushHeaders();
  afterHead(() => send(0));
});
beforeAll(async () => {
  provider.listen(0, '127.0.0.1');
  await once(provider, 'listening');
  const { port } = provider.address() as AddressInfo;
  gateway = await startTestGateway({ SVC_PROVIDERS_OPENAI_UPSTREAM: `http://127.0.0.1:${port}` });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  provider.closeAllConnections();
  provider.close();
});

const textOf = (response: string) =>
  response
    .split('\r\n')
    .filter((line) => line.startsWith('data: '))
    .join('');

test('a burst arrives complete while the provider sends nothing more', async () => {
  afterBurst = () => {};
  const last = EVENTS.at(-1) as string;
  const response = await rawTalk(gateway.url, REQUEST, (received) => received.includes(last));
  expect(textOf(response)).toBe(EVENTS.join(''));
});

test.each(['text/event-stream', 'application/json'])(
  'the head has arrived while the provider has sent nothing else: %s',
  async (type) => {
    contentType = type;
    afterHead = () => {};
    expect(await rawTalk(gateway.url, REQUEST, (received) => received.endsWith('\r\n\r\n'))).toContain(`content-type: ${type}`);
    [contentType, afterHead] = ['text/event-stream', (send) => send()];
  },
);

test('data sent before the provider connection breaks reaches the client, whose connection breaks too', async () => {
  afterBurst = (response) => response.socket?.destroySoon();
  const response = await rawTalk(gateway.url, REQUEST);
  expect(textOf(response)).toBe(EVENTS.join(''));
  expect(response).not.toMatch(/\r\n0\r\n\r\n$/);
});

test('the end of a stream is sent with its last chunks', async () => {
  afterBurst = (response) => response.end();
  const response = await rawTalk(gateway.url, REQUEST, (received) => received.endsWith('\r\n0\r\n\r\n'));
  expect(textOf(response)).toBe(EVENTS.join(''));
});
