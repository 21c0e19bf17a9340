import { beforeEach, describe, expect, test } from '@jest/globals';
import type { AuditEvent } from '@vitrine/plans/audit-event';
import { createLogger } from '@vitrine/telemetry/logger';
import { keyRow, testHashes } from '../testing/key-rows.ts';
import { AuditTrail } from './audit-trail.ts';
import { NOBODY } from './caller.ts';
import { KeyRing } from './key-ring.ts';

let now: number;
let written: AuditEvent[];
let lines: Record<string, unknown>[];
let isBroken: boolean;
let trail: AuditTrail;
beforeEach(() => {
  now = 1_000;
  written = [];
  lines = [];
  isBroken = false;
  trail = new AuditTrail({
    store: {
      appendAudit: async (events) => {
        if (isBroken) throw new Error('disk');
        written.push(...events);
      },
      removeAuditBefore: async () => 0,
    },
    logger: createLogger('t', 'info', { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) }),
    clock: () => now,
  });
});
const request = { method: 'POST', path: '/openai/v1/chat?key=hunter2', correlationId: 'corr-1' };
const messages = () => lines.map(({ msg }) => msg);

test('a denial is a row and a log line, with who, what, why and the correlation id', async () => {
  const ring = new KeyRing(testHashes, [keyRow('k', 'token')]);
  trail.denied(request, ring.verify('token') ?? NOBODY, 'forbidden');
  await trail.flush();
  const event = {
    at: 1_000,
    actor: 'k',
    action: 'request',
    target: 'POST /openai/v1/chat',
    outcome: 'deny',
    reason: 'forbidden',
    correlation_id: 'corr-1',
    org_id: 'acme',
    workspace_id: 'search',
  };
  expect(written).toEqual([event]);
  expect(lines).toEqual([expect.objectContaining({ msg: 'denied', audit: event })]);
});

test('secrets of a path reach neither', async () => {
  trail.denied({ ...request, path: '/openai/sgk_0123456789012345/x?token=abc' }, NOBODY, 'unauthorized');
  await trail.flush();
  expect(JSON.stringify([written, lines])).not.toMatch(/sgk_0123|abc/);
  expect(written[0]?.target).toContain('[CREDENTIAL_REDACTED]');
});

describe('bounds', () => {
  test('twenty denials a second are remembered, the others counted and told', async () => {
    for (let i = 0; i < 50; i += 1) trail.denied(request, NOBODY, 'unauthorized');
    now += 1_000;
    trail.denied(request, NOBODY, 'unauthorized');
    await trail.flush();
    expect([written.length, trail.lost]).toEqual([21, 30]);
    expect(lines.at(-1)).toMatchObject({ msg: 'denials left no record', count: 30, total: 30 });
  });

  test('what was lost is told every ten seconds at most', async () => {
    const flood = async () => {
      for (let i = 0; i < 30; i += 1) trail.denied(request, NOBODY, 'unauthorized');
      await trail.flush();
    };
    await flood();
    now += 5_000;
    await flood();
    now += 5_000;
    await trail.flush();
    expect(lines.filter(({ msg }) => msg === 'denials left no record').map(({ count }) => count)).toEqual([10, 10]);
  });

  test('while the store is away, a thousand wait, and what it refuses is counted', async () => {
    for (let i = 0; i < 60; i += 1) {
      now += 1_000;
      for (let j = 0; j < 20; j += 1) trail.denied(request, NOBODY, 'unauthorized');
    }
    expect(trail.lost).toBe(200);
    isBroken = true;
    await trail.flush();
    expect([written.length, trail.lost]).toEqual([0, 1_200]);
    expect(messages()).toContain('audit events were not written');
    isBroken = false;
    now += 1_000;
    trail.denied(request, NOBODY, 'unauthorized');
    await trail[Symbol.asyncDispose]();
    expect(written).toHaveLength(1);
  });
});
