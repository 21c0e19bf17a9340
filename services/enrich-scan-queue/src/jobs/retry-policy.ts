import { backoffMs } from '@vitrine/postgres/backoff';
import { storable } from '@vitrine/stores/storable-text';
import type { AttemptReason } from '@vitrine/stores/scans/finish-scan-job';
import type { ScanAttempt } from '../scan/scan-ports.ts';

/** Failures worth a retry. A challenge, a robots.txt rule or a refused address is not. */
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
/** A host that asks for a longer pause is not scanned until the next scan is queued. */
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

/** The outcome of the n-th attempt (from 1 on) of a job. `random`: from 0 to 1. Spec: S8.3. */
export function afterAttempt(attempt: FailedAttempt, attempts: number, limits: RetryLimits, random: number): AfterAttempt {
  const { outcome: status, reason, detail, retryAfterMs = 0 } = attempt;
  // A result that cannot be written would be retried forever.
  const error = storable(`${reason}: ${detail}`.slice(0, MAX_ERROR_CHARACTERS));
  const isOver = attempts >= limits.maxAttempts || !TEMPORARY.has(reason) || retryAfterMs > MAX_RETRY_AFTER_MS;
  if (isOver) return { next: 'end', status, error };
  const backoff = backoffMs(attempts - 1, { firstMs: limits.retryMs, maxMs: MAX_RETRY_MS }, random);
  return { next: 'retry', afterMs: Math.round(Math.max(backoff, retryAfterMs)), error };
}
