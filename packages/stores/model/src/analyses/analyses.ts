import { Fault } from '@vitrine/faults/fault';
import type { Queryable } from '@vitrine/postgres/connection';
import type { Transaction } from '@vitrine/postgres/transaction';
import { createId } from '../identifiers.ts';
import { queueScans } from '../scans/queue-scans.ts';

/** Two scans of a domain in a row may end while an analysis of it begins; more do not. */
const MAX_ATTEMPTS = 5;
const DENIED = 'the domain is on the denylist';

export type AnalysisStatus = 'queued' | 'running' | 'completed' | 'blocked' | 'failed';

/** A scan that a client waits for. */
export interface Analysis {
  readonly id: string;
  readonly status: AnalysisStatus;
  readonly domain: string;
  readonly error: string | null;
}

/** Begins an analysis of a canonical domain in the caller's transaction. It waits for the open scan of the domain, or for a new one, and ends when
 *  that does; analyses of denied domains are blocked from the start. Faults: `scan_not_queued`. */
export async function analyzeStore(
  transaction: Transaction,
  domain: string,
  at: number,
  random: (bytes: number) => Uint8Array,
): Promise<Analysis> {
  const jobId = await openScan(transaction, domain, at, random);
  const status: AnalysisStatus = jobId === undefined ? 'blocked' : 'queued';
  const analysis: Analysis = { id: createId('ana', at, random), status, domain, error: jobId === undefined ? DENIED : null };
  const text = 'INSERT INTO analyses (id, domain, scan_job_id, status, error, created_at) VALUES ($1, $2, $3, $4, $5, $6)';
  await transaction.execute(text, [analysis.id, domain, jobId ?? null, status, analysis.error, new Date(at)]);
  return analysis;
}

/** The open job of the domain, which cannot end before the transaction does, because ending it waits for the row and then finds the analysis. */
async function openScan(transaction: Transaction, domain: string, at: number, random: (bytes: number) => Uint8Array) {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const scans = { domains: [domain], cause: 'requested', createId: () => createId('job', at, random) } as const;
    const job = (await queueScans(transaction, scans)).get(domain);
    if (job === undefined || job.state === 'new') return job?.scan_job_id;
    const open = `SELECT 1 FROM scan_jobs WHERE id = $1 AND status IN ('queued', 'running') FOR SHARE`;
    if ((await transaction.query(open, [job.scan_job_id])).length > 0) return job.scan_job_id;
  }
  throw new Fault('scan_not_queued', { say: 'the scan could not be queued; try again', log: { domain } });
}

const SELECT = `SELECT a.id, CASE WHEN a.status = 'queued' AND j.status = 'running' THEN 'running' ELSE a.status END AS status, a.domain, a.error
  FROM analyses a LEFT JOIN scan_jobs j ON j.id = a.scan_job_id WHERE a.id = ANY ($1)`;

/** The analyses with these ids, in any order, without unknown ones. */
export function readAnalyses(database: Queryable, ids: readonly string[]): Promise<Analysis[]> {
  return database.query<Analysis>(SELECT, [ids]);
}
