import type { Transaction } from '@vitrine/postgres/transaction';

/** How a scan ended. Blocked and failed ones are not observations and change only their job. */
interface ScanJobResult {
  readonly id: string;
  readonly status: 'completed' | 'blocked' | 'failed';
  readonly error: string | null;
}

/** Ends an open scan job by the clock of the database, because retention removes it by that clock, and the analyses that wait for it. Resolves to
 *  false if it had already ended. */
export async function finishScanJob(transaction: Transaction, { id, status, error }: ScanJobResult): Promise<boolean> {
  const job = `UPDATE scan_jobs SET status = $2, error = $3, finished_at = now() WHERE id = $1 AND status IN ('queued', 'running')`;
  const analyses = `UPDATE analyses SET status = $2, error = $3 WHERE scan_job_id = $1 AND status IN ('queued', 'running')`;
  if ((await transaction.execute(job, [id, status, error])) === 0) return false;
  await transaction.execute(analyses, [id, status, error]);
  return true;
}

/** Why a scan was blocked or failed. The `error` of its job begins with the reason and a colon. */
export const ATTEMPT_REASONS = [
  'challenged',
  'throttled',
  'robots_denied',
  'robots_unavailable',
  'refused_address',
  'refused_redirect',
  'dns',
  'connect',
  'tls',
  'timed_out',
  'too_large',
  'http_error',
  'not_html',
  'denylisted',
  'internal',
] as const;
export type AttemptReason = (typeof ATTEMPT_REASONS)[number];
