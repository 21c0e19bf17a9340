import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { request as httpRequest } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { startTestGateway, type TestGateway } from '../../testing/start-test-gateway.ts';

const TIMEOUT_MS = 400;
/** The allowed lateness of a deadline plus the transport time of the messages. A busy machine adds the time for which this thread, shared with the
 *  gateway, was blocked: once for the tick and once for the test. */
const LATE_MAX_MS = 250;
const SLACK_MS = 200;
const STALLS = 2;
/** The delay of a message from the gateway to the test. */
const TRANSIT_MS = 20;
/** Requests and their spacing, so that their times begin at all points between two ticks. */
const REQUESTS = 16;
const APART_MS = 37;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    SVC_PROXY_IDLE_TIMEOUT_MS: String(TIMEOUT_MS),
    SVC_PROXY_FIRST_BYTE_TIMEOUT_MS: String(TIMEOUT_MS),
  });
});
afterAll(async () => gateway[Symbol.asyncDispose]());

/** Milliseconds from the request, or from the last chunk of its response, to its end. */
function timeToEnd(scenario: string): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const headers = { authorization: 'Bearer sk-test-0123456789', 'content-type': 'application/json', 'x-mock-scenario': scenario };
  const request = httpRequest(`${gateway.url}/openai/v1/chat/completions`, { method: 'POST', headers });
  let last = performance.now();
  request.on('response', (response) => {
    if (response.statusCode === 504) resolve(performance.now() - last);
    response.on('data', () => (last = performance.now()));
    response.on('error', () => {});
    response.on('close', () => resolve(performance.now() - last));
  });
  request.end(JSON.stringify({ model: 'gpt-4o-mini', stream: true, messages: [] }));
  return promise;
}

test.each([
  ['the first byte', 'slow=60000'],
  ['the next chunk', 'stall'],
])('a request that waits for %s is ended after its time: never early, at most 250 ms late', async (_, scenario) => {
  const loop = monitorEventLoopDelay({ resolution: 10 });
  loop.enable();
  const ends = Array.from({ length: REQUESTS }, async (_none, index) => {
    await new Promise((resolve) => setTimeout(resolve, index * APART_MS));
    return timeToEnd(scenario);
  });
  const times = await Promise.all(ends);
  const stalledMs = loop.max / 1e6;
  loop.disable();
  expect(times.filter((ms) => ms < TIMEOUT_MS - TRANSIT_MS)).toEqual([]);
  expect(times.filter((ms) => ms > TIMEOUT_MS + LATE_MAX_MS + SLACK_MS + STALLS * stalledMs)).toEqual([]);
});
