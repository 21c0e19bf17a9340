import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { AuditEvent } from '@vitrine/gateway-keys/audit-log';
import { createLogger } from '@vitrine/telemetry/logger';
import { keyRow, testHashes } from '../../testing/key-rows.ts';
import { AuditTrail } from './audit-trail.ts';
import { ANONYMOUS_CALLER, type Caller } from '../caller.ts';
import { KeyRing } from '../keys/key-ring.ts';

let now: number;
let wall: number;
let written: AuditEvent[];
let lines: Record<string, unknown>[];
let isBroken: boolean;
/** Events of this actor make the write of a batch fail. */
let breaksAt: string | undefined;
let untilWritten: Promise<void>;
let trail: AuditTrail;
beforeEach(() => {
  now = 1_000;
  wall = 0;
  written = [];
  lines = [];
  isBroken = false;
  breaksAt = undefined;
  untilWritten = Promise.resolve();
  trail = new AuditTrail({
    store: {
      appendAudit: async (events) => {
        if (isBroken || events.some(({ actor }) => actor === breaksAt)) throw new Error('disk');
        await untilWritten;
        written.push(...events);
      },
    },
    logger: createLogger('t', 'info', { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) }),
    clock: () => wall + now,
    steadyClock: () => now,
  });
});
const request = { method: 'POST', path: '/openai/v1/chat?key=hunter2', correlationId: 'corr-1' };
const caller = (id: string): Caller => new KeyRing(testHashes, [keyRow(id, 'token')]).verify('token') ?? ANONYMOUS_CALLER;
const change = (actor: string): AuditEvent => ({
  at: now,
  actor,
  action: 'gateway_key.create',
  target: 'wanted',
  outcome: 'deny',
  reason: 'gateway_key_exists',
  correlation_id: 'c',
  org_id: 'acme',
  workspace_id: 'search',
});
const messages = () => lines.map(({ msg }) => msg);

test('a denial is an event and a log line, with actor, target, reason and correlation id', async () => {
  const ring = new KeyRing(testHashes, [keyRow('k', 'token')]);
  trail.denied(request, ring.verify('token') ?? ANONYMOUS_CALLER, 'forbidden');
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

test('secrets in a path appear in neither', async () => {
  trail.denied({ ...request, path: '/openai/sgk_0123456789012345/x?token=abc' }, ANONYMOUS_CALLER, 'unauthorized');
  await trail.flush();
  expect(JSON.stringify([written, lines])).not.toMatch(/sgk_0123|abc/);
  expect(written[0]?.target).toContain('[CREDENTIAL_REDACTED]');
});

describe('anonymous callers', () => {
  const flood = (count: number) => {
    for (let i = 0; i < count; i += 1) trail.denied(request, ANONYMOUS_CALLER, 'unauthorized');
  };
  const actors = () => written.map(({ actor, reason }) => `${actor} ${reason}`);

  test('do not count against the bounds of known callers, for denials or for rejected key changes', async () => {
    flood(10_000);
    trail.denied(request, caller('k'), 'forbidden');
    trail.rejectedChange(change('k'));
    trail.rejectedChange(change('system'));
    flood(10_000);
    await trail.flush();
    expect(actors().filter((one) => !one.startsWith(' '))).toEqual([
      'k gateway_key_exists',
      'system gateway_key_exists',
      'k forbidden',
    ]);
    expect(lines.filter(({ audit }) => (audit as AuditEvent | undefined)?.actor !== '')).toHaveLength(4);
    expect(trail.lostByCause).toEqual({ anonymous_rate: 19_980 });
  });

  test('do not fill the queue of known callers while the store hangs', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    untilWritten = promise;
    for (let i = 0; i < 100; i += 1) {
      now += 1_000;
      flood(30);
      void trail.flush();
    }
    trail.denied(request, caller('k'), 'forbidden');
    trail.rejectedChange(change('k'));
    resolve();
    await trail[Symbol.asyncDispose]();
    expect(actors()).toEqual(expect.arrayContaining(['k forbidden', 'k gateway_key_exists']));
    // The batch that is being written, and a thousand more.
    expect(written.filter(({ actor }) => actor === '')).toHaveLength(20 + 1_000);
    expect(trail.lostByCause).toEqual({ anonymous_rate: 1_000, anonymous_backlog: 980 });
  });

  test('do not affect known callers when the write of their events fails', async () => {
    breaksAt = '';
    flood(5);
    trail.denied(request, caller('k'), 'forbidden');
    await trail.flush();
    expect([actors(), trail.lostByCause]).toEqual([['k forbidden'], { write_failed: 5 }]);
  });
});

describe('known callers are bounded', () => {
  const denyOften = (actor: string, reason: string) => {
    for (let i = 0; i < 50; i += 1) trail.denied(request, caller(actor), reason);
  };

  test('each by its own twenty a second, so that one does not displace events of another', async () => {
    denyOften('loud', 'KEY_RATE_LIMIT_EXCEEDED');
    trail.denied(request, caller('quiet'), 'forbidden');
    await trail.flush();
    expect(written.filter(({ actor }) => actor === 'loud')).toHaveLength(20);
    expect(written).toContainEqual(expect.objectContaining({ actor: 'quiet', reason: 'forbidden' }));
    expect(trail.lostByCause).toEqual({ caller_rate: 30 });
  });

  test('each reason separately: a key over its limit hides neither missing permissions nor rejected changes', async () => {
    denyOften('k', 'KEY_RATE_LIMIT_EXCEEDED');
    trail.denied(request, caller('k'), 'forbidden');
    trail.rejectedChange(change('k'));
    await trail.flush();
    expect(new Set(written.map(({ reason }) => reason))).toEqual(
      new Set(['KEY_RATE_LIMIT_EXCEEDED', 'forbidden', 'gateway_key_exists']),
    );
  });

  test('rejected changes of a key by twenty a second and a queue of a thousand', async () => {
    for (let i = 0; i < 25; i += 1) trail.rejectedChange(change('k'));
    for (let i = 0; i < 2_000; i += 1) trail.rejectedChange(change(`k${i}`));
    expect(trail.lostByCause).toEqual({ key_change_rate: 5, key_change_backlog: 1_020 });
    await trail.flush();
    expect(written).toHaveLength(1_000);
  });

  test('denials of many keys by a queue of four thousand', async () => {
    for (let i = 0; i < 6_000; i += 1) trail.denied(request, caller(`k${i}`), 'forbidden');
    await trail.flush();
    expect(written).toHaveLength(4_000);
    expect(trail.lost).toBe(2_000);
  });
});

test('events that arrive during a write are written after it, without waiting for another event', async () => {
  jest.useFakeTimers();
  const { promise, resolve } = Promise.withResolvers<void>();
  untilWritten = promise;
  trail.denied(request, caller('k'), 'forbidden');
  const first = trail.flush();
  trail.denied(request, caller('late'), 'forbidden');
  await jest.advanceTimersByTimeAsync(5_000);
  expect(written).toEqual([]);
  resolve();
  await first;
  await jest.advanceTimersByTimeAsync(5_000);
  jest.useRealTimers();
  expect(written.map(({ actor }) => actor)).toEqual(['k', 'late']);
});

describe('bounds', () => {
  test('twenty denials a second are recorded, the others counted and reported', async () => {
    for (let i = 0; i < 50; i += 1) trail.denied(request, ANONYMOUS_CALLER, 'unauthorized');
    now += 1_000;
    trail.denied(request, ANONYMOUS_CALLER, 'unauthorized');
    await trail.flush();
    expect([written.length, trail.lost]).toEqual([21, 30]);
    expect(lines.at(-1)).toMatchObject({ msg: 'audit events dropped', count: 30, total: 30 });
  });

  test('drops are reported every ten seconds at most', async () => {
    const flood = async () => {
      for (let i = 0; i < 30; i += 1) trail.denied(request, ANONYMOUS_CALLER, 'unauthorized');
      await trail.flush();
    };
    await flood();
    now += 5_000;
    await flood();
    now += 5_000;
    await trail.flush();
    expect(lines.filter(({ msg }) => msg === 'audit events dropped').map(({ count }) => count)).toEqual([10, 10]);
  });

  test('the last drops are reported too when no further denial follows', async () => {
    jest.useFakeTimers();
    try {
      const flood = async () => {
        for (let i = 0; i < 30; i += 1) trail.denied(request, ANONYMOUS_CALLER, 'unauthorized');
        await trail.flush();
      };
      await flood();
      now += 4_000;
      await flood();
      now += 6_000;
      await jest.advanceTimersByTimeAsync(6_000);
      const dropped = lines.filter(({ msg }) => msg === 'audit events dropped');
      expect(dropped).toMatchObject(
        [10, 10].map((count) => ({ count, next_step: expect.stringContaining('docs/failure-modes.md#') })),
      );
    } finally {
      jest.useRealTimers();
    }
  });

  test('a wall clock that is set back hides no drops', async () => {
    const flood = async () => {
      for (let i = 0; i < 30; i += 1) trail.denied(request, ANONYMOUS_CALLER, 'unauthorized');
      await trail.flush();
    };
    await flood();
    wall -= 86_400_000;
    now += 10_000;
    await flood();
    expect(lines.filter(({ msg }) => msg === 'audit events dropped').map(({ count }) => count)).toEqual([10, 10]);
    expect(written.at(-1)?.at).toBe(wall + now);
  });

  test('while the store is unavailable a thousand events wait, and those of a failed write are counted', async () => {
    for (let i = 0; i < 60; i += 1) {
      now += 1_000;
      for (let j = 0; j < 20; j += 1) trail.denied(request, ANONYMOUS_CALLER, 'unauthorized');
    }
    expect(trail.lost).toBe(200);
    isBroken = true;
    await trail.flush();
    expect([written.length, trail.lost]).toEqual([0, 1_200]);
    expect(messages()).toContain('audit write failed');
    isBroken = false;
    now += 1_000;
    trail.denied(request, ANONYMOUS_CALLER, 'unauthorized');
    await trail[Symbol.asyncDispose]();
    expect(written).toHaveLength(1);
  });
});
