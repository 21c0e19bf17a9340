import { expect, test } from '@jest/globals';
import { ATTEMPT_REASONS } from '@vitrine/stores/scans/finish-scan-job';
import type { ScanCause } from '@vitrine/stores/scans/queue-scans';
import { decodeScanRequest } from './request-handler.ts';
import { afterAttempt } from './retry-policy.ts';
import { ScanSlots } from './scan-slots.ts';

const request = { scan_job_id: `job_${'0'.repeat(26)}`, domain: 'example.com' };
const bytes = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));

test.each([
  ['a request', bytes(request), request],
  ['a request with a field of a later version', bytes({ ...request, priority: 1 }), request],
  ['nothing', null, undefined],
  ['no JSON', bytes('{'), undefined],
  ['no object', bytes('null'), undefined],
  ['another id', bytes({ ...request, scan_job_id: "job_' OR 1" }), undefined],
  ['no domain', bytes({ scan_job_id: request.scan_job_id }), undefined],
  ['what is far too long', bytes({ ...request, filler: 'x'.repeat(5_000) }), undefined],
])('reads %s', (_, value, expected) => {
  expect(decodeScanRequest(value)).toEqual(expected);
});

const LIMITS = { maxAttempts: 3, retryMs: 1_000 };
const failed = { outcome: 'failed', reason: 'timed_out', detail: 'no response within 60 s' } as const;

test.each([
  ['the first attempt', failed, 1, { next: 'retry', afterMs: 1_000 }],
  ['the second attempt, after twice the time', failed, 2, { next: 'retry', afterMs: 2_000 }],
  ['the last attempt', failed, 3, { next: 'end', status: 'failed' }],
  ['a host that asks for 10 minutes', { ...failed, retryAfterMs: 600_000 }, 1, { next: 'retry', afterMs: 600_000 }],
  ['a host that asks for a day', { ...failed, retryAfterMs: 86_400_000 }, 1, { next: 'end', status: 'failed' }],
  [
    'a challenge',
    { outcome: 'blocked', reason: 'challenged', detail: 'cloudflare' } as const,
    1,
    { next: 'end', status: 'blocked' },
  ],
  ['throttling', { outcome: 'blocked', reason: 'throttled', detail: '429' } as const, 1, { next: 'retry' }],
])('after %s', (_, attempt, attempts, expected) => {
  expect(afterAttempt(attempt, attempts, LIMITS, 0)).toMatchObject(expected);
});

test('a job always ends after its last attempt, with a one-line error that names the reason', () => {
  for (const reason of ATTEMPT_REASONS)
    for (const outcome of ['blocked', 'failed'] as const) {
      const end = afterAttempt({ outcome, reason, detail: 'x'.repeat(1_000) }, LIMITS.maxAttempts, LIMITS, 1);
      expect(end).toMatchObject({ next: 'end', status: outcome, error: expect.stringMatching(`^${reason}: x{100,}$`) });
      expect(end.error.length).toBeLessThanOrEqual(300);
    }
});

test('an error can be written to the database, for any input of a storefront', () => {
  const detail = `a\0b${'x'.repeat(284)}😀`;
  const { error } = afterAttempt({ ...failed, detail }, 1, LIMITS, 0);
  expect([error.isWellFormed(), error.includes('\0')]).toEqual([true, false]);
});

test('permanent refusals of a storefront are not retried', () => {
  const once = [
    'challenged',
    'robots_denied',
    'refused_address',
    'refused_redirect',
    'tls',
    'too_large',
    'not_html',
    'denylisted',
  ];
  const ended = ATTEMPT_REASONS.filter(
    (reason) => afterAttempt({ outcome: 'blocked', reason, detail: '' }, 1, LIMITS, 0).next === 'end',
  );
  expect(ended.toSorted()).toEqual(once.toSorted());
});

const FOREVER_MS = 600_000;

/** Slots on a clock that the test sets, and the order in which they were given. */
function slotsOf(size: number) {
  const clock = { now: 0 };
  const slots = new ScanSlots(size, () => clock.now);
  const order: string[] = [];
  const take = (name: string, cause: ScanCause) =>
    void slots.take(cause, FOREVER_MS).then((isTaken) => order.push(isTaken ? name : `${name} got none`));
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return { clock, slots, order, take, settle };
}

test('a free slot goes to a requested scan, even if routine ones have waited longer', async () => {
  const { slots, order, take, settle } = slotsOf(1);
  for (const name of ['routine 1', 'routine 2', 'routine 3']) take(name, 'routine');
  for (const name of ['requested 1', 'requested 2']) take(name, 'requested');
  await settle();
  for (let i = 0; i < 2; i += 1) {
    slots.release();
    await settle();
  }
  expect(order).toEqual(['routine 1', 'requested 1', 'requested 2']);
  expect([slots.waiting('routine'), slots.waiting('requested'), slots.taken]).toEqual([2, 0, 1]);
  slots.close();
});

test('routine scans get slots only after no requested one has waited for a second', async () => {
  const { clock, slots, order, take, settle } = slotsOf(1);
  take('requested 1', 'requested');
  take('requested 2', 'requested');
  take('routine', 'routine');
  await settle();
  slots.release();
  slots.release();
  await settle();
  // The next requested message is being fetched.
  expect([order, slots.taken]).toEqual([['requested 1', 'requested 2'], 0]);
  take('requested 3', 'requested');
  await settle();
  expect(order.at(-1)).toBe('requested 3');
  clock.now += 1_000;
  slots.release();
  await settle();
  expect(order.at(-1)).toBe('routine');
  slots.close();
});

test('a timed-out wait takes no slot, and closing ends all waits', async () => {
  const { slots, order, take, settle } = slotsOf(1);
  take('first', 'requested');
  expect(await slots.take('requested', 1)).toBe(false);
  take('late', 'routine');
  slots.close();
  await settle();
  expect([order, slots.taken, await slots.take('requested', FOREVER_MS)]).toEqual([['first', 'late got none'], 1, false]);
});
