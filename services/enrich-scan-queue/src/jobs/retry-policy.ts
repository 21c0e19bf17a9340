import { backoffMs } from '@vitrine/postgres/backoff';
import { storable } from '@vitrine/stores/storable-text';
import type { AttemptReason } from '@vitrine/stores/scans/finish-scan-job';
import type { ScanAttempt } from '../scan/scan-ports.ts';

/** What may end otherwise a little later. A challenge, a rule of robots.txt or a refused address does not. */
const TEMPORARY = new Set<AttemptReason>([
  'throttled',
  'robots_unavailable',
  'dns',
  'connect',
  'timed_out',
  'http_error',
  'internal',
]);
const MAX_RETRY_MS = 3_600_000;
/** A host that asks for more than this is left alone until the next scan is queued. */
const MAX_RETRY_AFTER_MS = 21_600_000;
const MAX_ERROR_CHARACTERS = 300;

export interface RetryLimits {
  readonly maxAttempts: number;
  readonly retryMs: number;
}

type AfterAttempt =
  | { readonly next: 'retry'; readonly afterMs: number; readonly error: string }
  | { readonly next: 'end'; readonly status: 'blocked' | 'failed'; readonly error: string };

type FailedAttempt = Extract<ScanAttempt, { outcome: 'blocked' | 'failed' }>;

/** What follows from the n-th attempt (from 1 on) of a job. `random`: from 0 to 1. Spec: S8.3. */
export function afterAttempt(attempt: FailedAttempt, attempts: number, limits: RetryLimits, random: number): AfterAttempt {
  const { outcome: status, reason, detail, retryAfterMs = 0 } = attempt;
  // An end that cannot be written would be tried again and again.
  const error = storable(`${reason}: ${detail}`.slice(0, MAX_ERROR_CHARACTERS));
  const isOver = attempts >= limits.maxAttempts || !TEMPORARY.has(reason) || retryAfterMs > MAX_RETRY_AFTER_MS;
  if (isOver) return { next: 'end', status, error };
  const backoff = backoffMs(attempts - 1, { firstMs: limits.retryMs, maxMs: MAX_RETRY_MS }, random);
  return { next: 'retry', afterMs: Math.round(Math.max(backoff, retryAfterMs)), error };
}
