import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { Transaction } from '@vitrine/postgres/transaction';
import { finishScanJob } from '@vitrine/stores/scans/finish-scan-job';
import type { ScanCause } from '@vitrine/stores/scans/queue-scans';
import { randomUUID } from 'node:crypto';

/** After this time without a renewal another process may take a job. A scan ends within 65 s, and renewals come every quarter. */
export const LEASE_MS = 60_000;
/** A job whose message has not arrived by then is taken without it, because its topic was lost or nothing relays the outbox. */
const UNDELIVERED_MS = 3_600_000;

/** A job while this process has its lease. */
export interface ClaimedJob {
  readonly id: string;
  readonly domain: string;
  readonly cause: ScanCause;
  /** Including this one. */
  readonly attempts: number;
  readonly leaseId: string;
  /** Milliseconds since the epoch. */
  readonly queuedAt: number;
}

const seconds = (parameter: string) => `make_interval(secs => ${parameter}::double precision / 1000)`;
const OPEN = `status IN ('queued', 'running')`;
const TAKE = `SET status = 'running', lease_id = $1, due_at = now() + ${seconds('$2')}, started_at = coalesce(started_at, now()), attempts = attempts + 1`;
/** Analyses run with their job. */
const claimOf = (condition: string) => `WITH claimed AS (
    UPDATE scan_jobs ${TAKE} WHERE ${condition} RETURNING id, domain, cause, attempts, lease_id AS "leaseId", queued_at AS "queuedAt"
  ), analysed AS (
    UPDATE analyses a SET status = 'running' FROM claimed c WHERE a.scan_job_id = c.id AND a.status = 'queued'
  )
  SELECT * FROM claimed`;
const CLAIM = claimOf(`id = $3 AND status = 'queued' AND (due_at IS NULL OR due_at <= now())`);
/** Uses two indexes. Requested jobs come first. */
const dueBy = (undelivered: string) => `SELECT id, cause FROM (
    (SELECT id, cause, due_at AS at FROM scan_jobs WHERE ${OPEN} AND due_at <= now() ORDER BY due_at LIMIT 100)
    UNION ALL
    (SELECT id, cause, queued_at AS at FROM scan_jobs WHERE status = 'queued' AND due_at IS NULL
      AND queued_at <= now() - ${seconds(undelivered)} ORDER BY queued_at LIMIT 100)
  ) AS due ORDER BY cause, at LIMIT 1`;
const FIRST_DUE = dueBy('$1');
/** The condition is repeated, because another process may have just changed the row. */
const CLAIM_DUE =
  claimOf(`id = (SELECT j.id FROM scan_jobs j WHERE j.id IN (SELECT id FROM (${dueBy('$3')}) AS first) FOR UPDATE SKIP LOCKED)
    AND ${OPEN} AND (due_at <= now() OR (due_at IS NULL AND status = 'queued'))`);
const RENEW = `UPDATE scan_jobs j SET due_at = now() + ${seconds('$1')} FROM unnest($2::text[], $3::text[]) AS l (id, lease_id)
  WHERE j.id = l.id AND j.lease_id = l.lease_id AND j.status = 'running' RETURNING j.id`;
const HOLDS = `id = $1 AND lease_id = $2 AND status = 'running'`;
const GIVE_BACK = `UPDATE scan_jobs SET status = 'queued', lease_id = NULL, due_at = now() + ${seconds('$3')}, attempts = attempts - $4, error = $5 WHERE ${HOLDS}`;

/** Scan jobs for the processes that run them. Only the holder of its lease runs and ends a job. Times are those of the database. Rejects with the
 *  driver's errors. */
export class ScanJobs {
  readonly #pool: PostgresPool;
  readonly #undeliveredMs: number;
  readonly #leaseMs: number;

  constructor(pool: PostgresPool, { undeliveredMs = UNDELIVERED_MS, leaseMs = LEASE_MS } = {}) {
    this.#pool = pool;
    this.#undeliveredMs = undeliveredMs;
    this.#leaseMs = leaseMs;
  }

  /** Takes a job whose message has arrived; undefined when it runs, has ended, or waits for its next attempt. */
  async claim(id: string): Promise<ClaimedJob | undefined> {
    const [job] = await this.#pool.query<ClaimedJob>(CLAIM, [randomUUID(), this.#leaseMs, id]);
    return job;
  }

  /** The cause of the job that `claimDue` would take. */
  async firstDue(): Promise<ScanCause | undefined> {
    const [row] = await this.#pool.query<{ cause: ScanCause }>(FIRST_DUE, [this.#undeliveredMs]);
    return row?.cause;
  }

  /** Takes a job that is due for a retry, whose process has died, or whose message has not arrived. */
  async claimDue(): Promise<ClaimedJob | undefined> {
    const [job] = await this.#pool.query<ClaimedJob>(CLAIM_DUE, [randomUUID(), this.#leaseMs, this.#undeliveredMs]);
    return job;
  }

  /** Resolves with the ids of the jobs that this process still has. */
  async renew(jobs: readonly ClaimedJob[]): Promise<Set<string>> {
    const leases = [jobs.map(({ id }) => id), jobs.map(({ leaseId }) => leaseId)];
    const rows = await this.#pool.query<{ id: string }>(RENEW, [this.#leaseMs, ...leases]);
    return new Set(rows.map(({ id }) => id));
  }

  /** Queues the job again for another attempt; the error is that of this one. False when the lease is lost. */
  async retry(job: ClaimedJob, afterMs: number, error: string): Promise<boolean> {
    return this.#giveBack(job, afterMs, 0, error);
  }

  /** Requeues the job without counting the attempt. */
  async putOff(job: ClaimedJob, afterMs: number): Promise<boolean> {
    return this.#giveBack(job, afterMs, 1, null);
  }

  /** Ends a job without an observation. False when the lease is lost. */
  async end(job: ClaimedJob, status: 'blocked' | 'failed', error: string): Promise<boolean> {
    return this.#pool.transaction(async (transaction) => {
      if (!(await holdJob(transaction, job))) return false;
      return finishScanJob(transaction, { id: job.id, status, error });
    });
  }

  /** Number of open jobs, and of those waiting for their next attempt. */
  async counts(): Promise<{ readonly open: number; readonly delayed: number }> {
    const text = `SELECT count(*)::int AS open, count(*) FILTER (WHERE status = 'queued' AND due_at > now())::int AS delayed
      FROM scan_jobs WHERE ${OPEN}`;
    const [row] = await this.#pool.query<{ open: number; delayed: number }>(text);
    return row ?? { open: 0, delayed: 0 };
  }

  async #giveBack(job: ClaimedJob, afterMs: number, attempts: 0 | 1, error: string | null): Promise<boolean> {
    return (await this.#pool.execute(GIVE_BACK, [job.id, job.leaseId, afterMs, attempts, error])) === 1;
  }
}

/** Whether this process still has the job. Locks it until the transaction ends. */
export async function holdJob(transaction: Transaction, { id, leaseId }: ClaimedJob): Promise<boolean> {
  return (await transaction.query(`SELECT 1 FROM scan_jobs WHERE ${HOLDS} FOR UPDATE`, [id, leaseId])).length === 1;
}
