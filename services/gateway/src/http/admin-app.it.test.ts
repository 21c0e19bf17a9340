import { describe, expect, test } from '@jest/globals';
import { Fault } from '@vitrine/faults/fault';
import { createLogger } from '@vitrine/telemetry/logger';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { createAdminApp } from './admin-app.ts';
import { operation, type AdminRoute } from './admin-route.ts';
import { oneOf } from './query-shapes.ts';

/** What an app answers whose only route throws `error`, and what it logs. */
async function answerTo(error: unknown) {
  const handle = () => {
    throw error;
  };
  const fail = operation({ summary: '', permission: 'public', status: 200, errors: [], handle });
  return ask([{ path: '/fail', GET: fail }], '/fail');
}

async function ask(routes: readonly AdminRoute[], path: string) {
  const log: Record<string, unknown>[] = [];
  const app = createAdminApp(routes, {
    logger: createLogger('t', 'info', { write: (line) => void log.push(JSON.parse(line) as Record<string, unknown>) }),
    authorize: () => undefined,
    keyHeader: 'X-Key',
    version: '0',
  });
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`);
    return { status: response.status, body: await response.json(), log };
  } finally {
    server.close();
  }
}

test.each([
  ['a refusal of what was asked', '/ask?word=sk-proj-canary0123456789', 400, 'invalid word: "[CREDENTIAL_REDACTED]"'],
  ['a failure of ours', '/fail', 503, 'no answer from sgk_ [CREDENTIAL_REDACTED]'],
])('%s repeats no credential', async (_, path, status, error) => {
  const common = { summary: '', permission: 'public', status: 200, errors: [] } as const;
  const word = operation({ ...common, query: z.strictObject({ word: oneOf(['a']) }), handle: () => ({}) });
  const fail = operation({
    ...common,
    handle: () => {
      throw new Fault('trace_store_unavailable', { say: 'no answer from sgk_ sgk_canary0123456789' });
    },
  });
  const routes = [
    { path: '/ask', GET: word },
    { path: '/fail', GET: fail },
  ];
  const { log, ...answer } = await ask(routes, path);
  expect(answer).toEqual({ status, body: { error } });
  expect(JSON.stringify(log)).not.toContain('canary');
});

describe('what is logged of an answer', () => {
  test.each([
    ['gateway_keys_read_only', 501],
    ['key_verification_unavailable', 503],
    ['unauthorized', 401],
    ['gateway_key_exists', 409],
  ])('%s is expected: nothing', async (code, status) => {
    expect(await answerTo(new Fault(code, { say: 'no' }))).toEqual({ status, body: { error: 'no' }, log: [] });
  });

  test.each(['trace_store_unavailable', 'key_store_unavailable', 'pepper_unusable'])(
    '%s is a failure: what broke, why, and what to do',
    async (code) => {
      const cause = new Fault('worker_failed', { say: 'database is locked' });
      const { status, log } = await answerTo(new Fault(code, { say: 'no answer', cause }));
      expect(status).toBe(503);
      expect(log).toEqual([
        expect.objectContaining({
          level: 'error',
          msg: 'request failed',
          code,
          cause_code: 'worker_failed',
          err: expect.objectContaining({ message: 'no answer: database is locked' }),
          path: '/fail',
          correlation_id: expect.stringMatching(/^corr-/),
          next_step: `see docs/failure-modes.md#${code}`,
        }),
      ]);
    },
  );

  test('a bug is a failure, whose text stays here', async () => {
    const { status, body, log } = await answerTo(new TypeError('no function'));
    expect([status, body]).toEqual([500, { error: 'internal server error' }]);
    expect(log).toMatchObject([{ level: 'error', err: { message: 'no function', stack: expect.any(String) }, code: '' }]);
    expect(log[0]?.['next_step']).toMatch(/it is a bug/);
  });
});
