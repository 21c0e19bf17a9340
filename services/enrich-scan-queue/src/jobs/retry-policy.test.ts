import { expect, test } from '@jest/globals';
import { ATTEMPT_REASONS } from '@vitrine/stores/scans/finish-scan-job';
import { afterAttempt } from './retry-policy.ts';

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
