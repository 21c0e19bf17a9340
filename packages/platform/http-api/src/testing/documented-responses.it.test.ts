import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Fault } from '@vitrine/faults/fault';
import { createLogger } from '@vitrine/telemetry/logger';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { createApiApp } from '../api-app.ts';
import type { Route } from '../route.ts';
import { verifyResponses } from './documented-responses.ts';

const CORRELATION_HEADER = 'X-Correlation-ID';

const response = z.strictObject({
  n: z.int(),
  at: z.iso.datetime().optional(),
  word: z.enum(['a', 'b']).optional(),
  id: z
    .string()
    .regex(/^[a-z]+$/)
    .optional(),
});

/** A route whose responses come from `handle`, documented or not. */
const route = (path: string, handle: () => unknown): Route => ({
  path,
  GET: { summary: 'Responds.', permission: 'public', status: 200, response, errors: [], handle },
});
const routes = [
  { ...route('/api/true/:id', () => ({ n: 1 })), params: z.object({ id: z.string().describe('Any.') }) },
  route('/api/more', () => ({ n: 1, undocumented: true })),
  route('/api/less', () => ({})),
  route('/api/other', () => ({ n: 'one' })),
  route('/api/when', () => ({ n: 1, at: '2026-02-30T00:00:00Z' })),
  route('/api/word', () => ({ n: 1, word: 'c' })),
  route('/api/id', () => ({ n: 1, id: 'ABC' })),
  route('/api/status', () => {
    throw new Fault('trace_not_found', { say: 'trace not found' });
  }),
];

let server: Server;
let url: string;
beforeAll(async () => {
  const logger = createLogger('test', 'silent', { write: () => true });
  const app = createApiApp(routes, {
    logger,
    description: { title: 'T', version: '1', summary: 'S.', correlationHeader: CORRELATION_HEADER },
    faults: { statuses: { trace_not_found: 404 }, expected: [] },
    authorize: () => undefined,
  });
  server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

describe('an undocumented response', () => {
  test.each([
    ['GET', '/api/more', 'must NOT have additional properties'],
    ['GET', '/api/less', "must have required property 'n'"],
    ['GET', '/api/other', 'must be integer'],
    ['GET', '/api/status', 'responded with 404: this status is not documented'],
    ['GET', '/api/when', 'must match format "date-time"'],
    ['GET', '/api/word', 'must be equal to one of the allowed values'],
    ['GET', '/api/id', 'must match pattern'],
  ])('%s %s is reported to the client and by disposal', async (method, path, why) => {
    const verification = await verifyResponses(url, CORRELATION_HEADER);
    const response = await fetch(url + path, { method });
    expect([response.status, await response.json()]).toEqual([500, { error: expect.stringContaining(why) }]);
    expect(() => verification[Symbol.dispose]()).toThrow(why);
  });
});

test.each([
  ['GET', '/api/true/1', 200],
  ['HEAD', '/api/true/1', 200],
  ['OPTIONS', '/api/true/1', 204],
  ['POST', '/api/true/1', 405],
  ['GET', '/api/unknown', 404],
  ['OPTIONS', '/api/unknown', 204],
  ['GET', '/api/openapi.json', 200],
])('a documented %s %s passes', async (method, path, status) => {
  using _verification = await verifyResponses(url, CORRELATION_HEADER);
  expect((await fetch(url + path, { method })).status).toBe(status);
});

test('an unverified response is unchanged', async () => {
  expect(await (await fetch(`${url}/api/more`)).json()).toEqual({ n: 1, undocumented: true });
});
