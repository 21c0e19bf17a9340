import { expect, test } from '@jest/globals';
import { Fault } from '@vitrine/faults/fault';
import { createLogger } from '@vitrine/telemetry/logger';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { createAdminApp } from './admin-app.ts';
import { operation } from './admin-route.ts';
import { oneOf } from './query-shapes.ts';

test.each([
  ['a refusal of what was asked', '/ask?word=sk-proj-canary0123456789', 400, 'invalid word: "[CREDENTIAL_REDACTED]"'],
  ['a failure of ours', '/fail', 503, 'no answer from sgk_ [CREDENTIAL_REDACTED]'],
])('%s repeats no credential', async (_, path, status, error) => {
  const log: string[] = [];
  const common = { summary: '', permission: 'public', status: 200, errors: [] } as const;
  const ask = operation({ ...common, query: z.strictObject({ word: oneOf(['a']) }), handle: () => ({}) });
  const fail = operation({
    ...common,
    handle: () => {
      throw new Fault('trace_store_unavailable', { say: 'no answer from sgk_ sgk_canary0123456789' });
    },
  });
  const app = createAdminApp(
    [
      { path: '/ask', GET: ask },
      { path: '/fail', GET: fail },
    ],
    {
      logger: createLogger('t', 'info', { write: (line) => log.push(line) }),
      authorize: () => undefined,
      keyHeader: 'X-Key',
      version: '0',
    },
  );
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`);
    expect([response.status, await response.json()]).toEqual([status, { error }]);
    expect(log.join('')).not.toContain('canary');
  } finally {
    server.close();
  }
});
