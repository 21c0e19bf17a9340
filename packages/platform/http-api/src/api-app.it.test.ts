import { describe, expect, test } from '@jest/globals';
import { Fault } from '@vitrine/faults/fault';
import { createLogger } from '@vitrine/telemetry/logger';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { createApiApp } from './api-app.ts';
import { oneOf } from './requests/query-shapes.ts';
import { operationOf, type Route } from './route.ts';

const operation = operationOf();
const faults = {
  statuses: { no_access: 401, thing_exists: 409, read_only: 501, verification_unavailable: 503, store_unavailable: 503 },
  expected: ['read_only', 'verification_unavailable'],
};

/** The response of an app whose only route throws `error`, and its log. */
async function responseTo(error: unknown) {
  const handle = () => {
    throw error;
  };
  const fail = operation({ summary: '', permission: 'public', status: 200, errors: [], handle });
  return request([{ path: '/fail', GET: fail }], '/fail');
}

async function listening(routes: readonly Route[]) {
  const log: Record<string, unknown>[] = [];
  const app = createApiApp(routes, {
    logger: createLogger('t', 'info', { write: (line) => void log.push(JSON.parse(line) as Record<string, unknown>) }),
    description: { title: 'T', version: '0', summary: 'S.', correlationHeader: 'X-Correlation-ID' },
    faults,
    authorize: () => undefined,
  });
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, log, [Symbol.asyncDispose]: async () => void server.close() };
}

async function request(routes: readonly Route[], path: string) {
  await using server = await listening(routes);
  const response = await fetch(`${server.url}${path}`);
  return { status: response.status, body: await response.json(), log: server.log };
}

test.each([
  ['an error of the client', '/word?word=sk-proj-canary0123456789', 400, 'invalid word: "[CREDENTIAL_REDACTED]"'],
  ['a failure of the service', '/fail', 503, 'no response from sgk_ [CREDENTIAL_REDACTED]'],
])('%s repeats no credential', async (_, path, status, error) => {
  const common = { summary: '', permission: 'public', status: 200, errors: [] } as const;
  const word = operation({ ...common, query: z.strictObject({ word: oneOf(['a']) }), handle: () => ({}) });
  const fail = operation({
    ...common,
    handle: () => {
      throw new Fault('store_unavailable', { say: 'no response from sgk_ sgk_canary0123456789' });
    },
  });
  const routes = [
    { path: '/word', GET: word },
    { path: '/fail', GET: fail },
  ];
  const { log, ...response } = await request(routes, path);
  expect(response).toEqual({ status, body: { error } });
  expect(JSON.stringify(log)).not.toContain('canary');
});

describe('the log of a response', () => {
  test.each([
    ['read_only', 501],
    ['verification_unavailable', 503],
    ['no_access', 401],
    ['thing_exists', 409],
  ])('%s is expected and not logged', async (code, status) => {
    expect(await responseTo(new Fault(code, { say: 'no' }))).toEqual({ status, body: { error: 'no' }, log: [] });
  });

  test.each([
    ['store_unavailable', 503],
    ['unknown_code', 500],
  ])('%s is logged as a failure with class, cause and next step', async (code, expected) => {
    const cause = new Fault('worker_failed', { say: 'database is locked' });
    const { status, log } = await responseTo(new Fault(code, { say: 'no response', cause }));
    expect(status).toBe(expected);
    expect(log).toEqual([
      expect.objectContaining({
        level: 'error',
        msg: 'request failed',
        code,
        cause_code: 'worker_failed',
        err: expect.objectContaining({ message: 'no response: database is locked' }),
        path: '/fail',
        correlation_id: expect.stringMatching(/^corr-/),
        next_step: `see docs/failure-modes.md#${code}`,
      }),
    ]);
  });

  test('a bug is a failure whose text is not sent', async () => {
    const { status, body, log } = await responseTo(new TypeError('no function'));
    expect([status, body]).toEqual([500, { error: 'internal server error' }]);
    expect(log).toMatchObject([{ level: 'error', err: { message: 'no function', stack: expect.any(String) }, code: '' }]);
    expect(log[0]?.['next_step']).toMatch(/it is a bug/);
  });
});
