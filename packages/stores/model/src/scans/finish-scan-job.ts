import type { Transaction } from '@vitrine/postgres/transaction';

/** How a scan ended. Blocked and failed ones are no observations and change nothing but their job. */
interface ScanJobResult {
  readonly id: string;
  readonly status: 'completed' | 'blocked' | 'failed';
  readonly error: string | null;
}

/** Ends an open scan job by the clock of the database, because retention removes it by that clock, and the analyses that wait for it. Resolves to false when it has ended before. */
export async function finishScanJob(transaction: Transaction, { id, status, error }: ScanJobResult): Promise<boolean> {
  const job = `UPDATE scan_jobs SET status = $2, error = $3, finished_at = now() WHERE id = $1 AND status IN ('queued', 'running')`;
  const analyses = `UPDATE analyses SET status = $2, error = $3 WHERE scan_job_id = $1 AND status IN ('queued', 'running')`;
  if ((await transaction.execute(job, [id, status, error])) === 0) return false;
  await transaction.execute(analyses, [id, status, error]);
  return true;
}
