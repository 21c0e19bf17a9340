import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Fault } from '@vitrine/faults/fault';
import { createLogger } from '@vitrine/telemetry/logger';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { createAdminApp } from '../http/admin-app.ts';
import { operation, type AdminRoute } from '../http/admin-route.ts';
import { watchAnswers } from './documented-answers.ts';

const answer = z.strictObject({
  n: z.int(),
  at: z.iso.datetime().optional(),
  word: z.enum(['a', 'b']).optional(),
  id: z
    .string()
    .regex(/^[a-z]+$/)
    .optional(),
});

/** An operation that says one thing and does another. */
const route = (path: string, handle: () => unknown): AdminRoute => ({
  path,
  params: { id: 'Any.' },
  GET: operation({ summary: 'Answers.', permission: 'public', status: 200, answer, errors: [], handle }),
});
const routes = [
  route('/api/true/:id', () => ({ n: 1 })),
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
  const app = createAdminApp(routes, { logger, authorize: () => undefined, keyHeader: 'X-Key', version: '1' });
  server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

describe('an answer that the description does not know', () => {
  test.each([
    ['GET', '/api/more', 'must NOT have additional properties'],
    ['GET', '/api/less', "must have required property 'n'"],
    ['GET', '/api/other', 'must be integer'],
    ['GET', '/api/status', 'answered 404: this status is not described'],
    ['GET', '/api/when', 'must match format "date-time"'],
    ['GET', '/api/word', 'must be equal to one of the allowed values'],
    ['GET', '/api/id', 'must match pattern'],
  ])('%s %s: the one who asked learns why, and so does disposal', async (method, path, why) => {
    const watch = await watchAnswers(url);
    const response = await fetch(url + path, { method });
    expect([response.status, await response.json()]).toEqual([500, { error: expect.stringContaining(why) }]);
    expect(() => watch[Symbol.dispose]()).toThrow(why);
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
])('%s %s as described passes', async (method, path, status) => {
  using _watch = await watchAnswers(url);
  expect((await fetch(url + path, { method })).status).toBe(status);
});

test('without a watch the answer is what it is', async () => {
  expect(await (await fetch(`${url}/api/more`)).json()).toEqual({ n: 1, undocumented: true });
});
