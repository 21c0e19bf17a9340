import { RetentionClock } from '@vitrine/lifecycle/retention-clock';
import { advanceRetention, type RetentionLoop } from '@vitrine/postgres/advance-retention';
import { databaseErrorFields } from '@vitrine/postgres/database-error-fields';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { createId } from '@vitrine/stores/identifiers';
import type { Logger } from '@vitrine/telemetry/logger';
import { RetentionLog, type Removed } from '@vitrine/telemetry/retention-log';
import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { ScanConfig } from '../config.ts';
import type { ScanJobs } from '../jobs/scan-jobs.ts';
import { HostRateLimiter } from '../politeness/host-rate-limiter.ts';
import { queueRescans } from './rescan-scheduler.ts';

/** A short cadence, as in the demonstration, is checked more often. */
const SCHEDULE_MS = 10_000;
/** Routine scans that may be open at once. Beyond it none is queued. */
const MAX_OPEN_SCANS = 1_000;
const LOOKS_PER_CADENCE = 10;
const COUNT_MS = 5_000;
const CLEAN_UP_MS = 600_000;
const DAY_MS = 86_400_000;

const REMOVED_AT_ONCE = 500;

const newId = () => createId('job', Date.now(), randomBytes);

const EVIDENCE_RETENTION: RetentionLoop = {
  name: 'evidence',
  newest: 'SELECT max(completed_at) AS newest FROM observations WHERE evidence IS NOT NULL',
};

const REMOVE_EVIDENCE = `WITH emptied AS (
    UPDATE observations SET evidence = NULL WHERE id IN (
      SELECT id FROM observations WHERE evidence IS NOT NULL AND completed_at < $1
      ORDER BY completed_at LIMIT ${REMOVED_AT_ONCE} FOR UPDATE SKIP LOCKED) RETURNING completed_at)
  SELECT 'observations.evidence' AS what, count(*) AS count, min(completed_at) AS oldest, max(completed_at) AS newest FROM emptied`;

export interface RoutineFigures {
  /** Runs of the scheduler by result. */
  readonly runs: Readonly<Record<'queued' | 'not_leading' | 'failed', number>>;
  readonly scansQueued: number;
  readonly evidenceRemoved: number;
  /** Passes that remove old evidence and turns of hosts, and failed. */
  readonly cleanUpFailures: number;
  /** Undefined while they are not known. */
  readonly jobs: { readonly open: number; readonly delayed: number } | undefined;
}

interface RoutineWorkOptions {
  readonly config: Pick<ScanConfig, 'rescan' | 'evidence'>;
  readonly logger: Logger;
  readonly jobs: Pick<ScanJobs, 'counts'>;
}

/** Periodic work: queueing routine scans, counting open jobs, removing old evidence. Each runs at its own interval, one at a time. A failure is
 *  logged, and the next round tries again. */
export class RoutineWork implements AsyncDisposable {
  readonly #figures = {
    runs: { queued: 0, not_leading: 0, failed: 0 },
    scansQueued: 0,
    evidenceRemoved: 0,
    cleanUpFailures: 0,
    jobs: undefined as RoutineFigures['jobs'],
  };
  readonly figures: RoutineFigures = this.#figures;
  readonly #pool: PostgresPool;
  readonly #options: RoutineWorkOptions;
  readonly #retention = new RetentionClock(() => performance.now());
  readonly #retentionLog: RetentionLog;
  readonly #stopping = new AbortController();
  readonly #ended: Promise<unknown>;

  constructor(pool: PostgresPool, options: RoutineWorkOptions) {
    this.#pool = pool;
    this.#options = options;
    this.#retentionLog = new RetentionLog(options.logger);
    const { enabled, cadence_ms: cadenceMs } = options.config.rescan;
    const scheduleMs = Math.min(SCHEDULE_MS, Math.ceil(cadenceMs / LOOKS_PER_CADENCE));
    this.#ended = Promise.all([
      enabled && this.#every(scheduleMs, () => this.#schedule(), 'rescan scheduler failed'),
      this.#every(COUNT_MS, () => this.#count(), 'scan jobs not counted'),
      this.#every(CLEAN_UP_MS, () => this.#cleanUp(), 'retention of evidence failed'),
    ]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#ended;
  }

  async #every(ms: number, work: () => Promise<void>, failure: string): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await work().catch((err: unknown) => this.#options.logger.warn({ ...databaseErrorFields(err) }, failure));
      await wait(ms, undefined, { signal }).catch(() => {});
    }
  }

  async #schedule(): Promise<void> {
    const { cadence_ms: cadenceMs } = this.#options.config.rescan;
    try {
      const run = await queueRescans(this.#pool, { cadenceMs, maxOpen: MAX_OPEN_SCANS, createId: newId });
      this.#figures.runs[run.result] += 1;
      if (run.result === 'queued') this.#figures.scansQueued += run.scans;
    } catch (error) {
      this.#figures.runs.failed += 1;
      throw error;
    }
  }

  async #count(): Promise<void> {
    this.#figures.jobs = undefined;
    this.#figures.jobs = await this.#options.jobs.counts();
  }

  async #cleanUp(): Promise<void> {
    const { signal } = this.#stopping;
    try {
      const run = await advanceRetention(this.#pool, this.#retention, EVIDENCE_RETENTION);
      this.#retentionLog.began(run);
      const before = run.at - this.#options.config.evidence.retention_days * DAY_MS;
      const removeSome = async () => (signal.aborted ? [] : removeEvidence(this.#pool, before));
      this.#figures.evidenceRemoved += await this.#retentionLog.removeAll(removeSome);
      await new HostRateLimiter(this.#pool).removeUnused();
    } catch (error) {
      this.#figures.cleanUpFailures += 1;
      throw error;
    }
  }
}

/** Removes the evidence of observations completed before a time, 500 at once. Resolves with the number removed. */
export async function removeEvidence(pool: PostgresPool, beforeMs: number): Promise<Removed[]> {
  const removed = await pool.query<Removed>(REMOVE_EVIDENCE, [new Date(beforeMs)]);
  return removed.filter(({ count }) => count > 0);
}
