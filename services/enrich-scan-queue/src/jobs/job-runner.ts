import { databaseErrorFields } from '@vitrine/postgres/database-error-fields';
import { classifyPostgresError } from '@vitrine/postgres/postgres-error';
import { messageOf } from '@vitrine/faults/fault';
import type { Logger } from '@vitrine/telemetry/logger';
import { setTimeout as wait } from 'node:timers/promises';
import type { ScanAttempt } from '../scan/scan-ports.ts';
import { afterAttempt, type RetryLimits } from './retry-policy.ts';
import { LEASE_MS, type ClaimedJob, type ScanJobs } from './scan-jobs.ts';
import type { ScanSlots } from './scan-slots.ts';

/** The fetcher ends a scan after 60 s. This bound covers everything else. */
const DEADLINE_MS = 65_000;
/** Parts of the 5 s of a shutdown step: first for scans to end by themselves, then to requeue the others. */
const DRAIN_MS = 3_000;
const ENDS_PROCESSES = 'no process finished this scan';
const AFTER_BUG = 'report it with this line; the job is tried again up to jobs.max_attempts';
const AFTER_LOST_LEASE = 'no action needed, nothing was written: docs/failure-modes.md#scan-jobs-that-are-taken-over';

/** How a run ended. `completed`: its observation was committed together with the end of the job. `lost`: another process has the job. */
export type RunResult = { readonly outcome: 'completed' } | { readonly outcome: 'lost' } | ScanAttempt;

/** The end of a run, for metrics. */
export interface EndedRun {
  readonly job: ClaimedJob;
  /** `retried`: another attempt follows; `put_off`: its host is busy; `handed_back`: the process stops; `undecided`: the database was unavailable. */
  readonly result: 'completed' | 'blocked' | 'failed' | 'retried' | 'put_off' | 'handed_back' | 'lost' | 'undecided';
  readonly reason?: string;
  /** Times of `performance.now()`. */
  readonly startedAt: number;
  readonly endedAt: number;
}

interface JobRunnerOptions {
  readonly jobs: ScanJobs;
  readonly slots: ScanSlots;
  readonly limits: RetryLimits;
  readonly run: (job: ClaimedJob, signal: AbortSignal) => Promise<RunResult>;
  readonly logger: Logger;
  readonly onEnd: (ended: EndedRun) => void;
  readonly renewMs?: number;
}

interface Running {
  readonly job: ClaimedJob;
  readonly abort: AbortController;
  readonly ended: Promise<void>;
}

/** Runs claimed jobs, renews their leases, and writes their results. */
export class JobRunner {
  readonly #options: JobRunnerOptions;
  readonly #running = new Map<string, Running>();
  readonly #stopping = new AbortController();
  #renewing: Promise<void> | undefined;
  #renewedAt = performance.now();

  constructor(options: JobRunnerOptions) {
    this.#options = options;
  }

  /** Milliseconds of `performance.now()` at the last round of renewals. */
  get renewedAt(): number {
    return this.#renewedAt;
  }

  startRenewing(): void {
    this.#renewing = this.#renewLeases();
  }

  /** Claims a job for a slot of the caller and runs it. Releases the slot after the run, or at once if there is no job. Resolves with whether
   *  there was one. */
  async claim(claimJob: () => Promise<ClaimedJob | undefined>): Promise<boolean> {
    let job: ClaimedJob | undefined;
    try {
      job = await claimJob();
      if (job !== undefined) this.#start(job);
    } finally {
      if (job === undefined) this.#options.slots.release();
    }
    return job !== undefined;
  }

  /** Waits a while for running scans to end, then requeues the others. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    const late = new AbortController();
    await Promise.race([this.settle(), wait(DRAIN_MS, undefined, { signal: late.signal }).catch(() => {})]);
    late.abort();
    for (const { abort } of this.#running.values()) abort.abort(new Error('the process stops'));
    await this.settle();
    await this.#renewing;
  }

  /** Resolves when no job runs. After `stop`, a job whose claim was in progress is requeued at once. */
  async settle(): Promise<void> {
    await Promise.all([...this.#running.values()].map(({ ended }) => ended));
  }

  #start(job: ClaimedJob): void {
    const abort = new AbortController();
    const ended = this.#run(job, abort).finally(() => {
      this.#running.delete(job.leaseId);
      this.#options.slots.release();
    });
    this.#running.set(job.leaseId, { job, abort, ended });
  }

  async #run(job: ClaimedJob, abort: AbortController): Promise<void> {
    const { run, logger, limits, onEnd } = this.#options;
    const startedAt = performance.now();
    const timer = setTimeout(() => abort.abort(new Error(`the scan took longer than ${DEADLINE_MS} ms`)), DEADLINE_MS);
    let result: RunResult;
    try {
      const isOver = job.attempts > limits.maxAttempts;
      // The claim was in progress when the process was stopped.
      if (this.#stopping.signal.aborted) abort.abort(new Error('the process stops'));
      if (isOver) result = { outcome: 'failed', reason: 'internal', detail: ENDS_PROCESSES };
      else if (abort.signal.aborted) result = { outcome: 'delayed', retryAfterMs: 0 };
      else result = await run(job, abort.signal);
    } catch (err) {
      if (!abort.signal.aborted)
        logger.error({ err, scan_job_id: job.id, domain: job.domain, next_step: AFTER_BUG }, 'scan failed unexpectedly');
      result = { outcome: 'failed', reason: 'internal', detail: messageOf(err) };
      if (classifyPostgresError(err) !== 'unknown') result = { ...result, detail: 'the database was unavailable' };
    } finally {
      clearTimeout(timer);
    }
    const end = await this.#end(job, result, abort.signal).catch((err: unknown) => {
      logger.warn({ ...databaseErrorFields(err), scan_job_id: job.id }, 'saving scan result failed');
      return { result: 'undecided' } as const;
    });
    onEnd({ job, ...end, startedAt, endedAt: performance.now() });
  }

  async #end(job: ClaimedJob, result: RunResult, signal: AbortSignal): Promise<Pick<EndedRun, 'result' | 'reason'>> {
    const { jobs, limits, logger } = this.#options;
    const unlessLost = (isWritten: boolean, end: Pick<EndedRun, 'result' | 'reason'>) => (isWritten ? end : this.#lost(job));
    if (result.outcome === 'completed') return { result: 'completed' };
    if (result.outcome === 'lost') return this.#lost(job);
    if (signal.aborted && this.#stopping.signal.aborted) return unlessLost(await jobs.putOff(job, 0), { result: 'handed_back' });
    if (result.outcome === 'delayed') return unlessLost(await jobs.putOff(job, result.retryAfterMs), { result: 'put_off' });
    const next = afterAttempt(result, job.attempts, limits, Math.random());
    const { reason } = result;
    const fields = { scan_job_id: job.id, domain: job.domain, reason, error: next.error, attempts: job.attempts };
    if (next.next === 'retry') {
      logger.info({ ...fields, after_ms: next.afterMs }, 'scan retry scheduled');
      return unlessLost(await jobs.retry(job, next.afterMs, next.error), { result: 'retried', reason });
    }
    logger.info(fields, `scan ${next.status}`);
    return unlessLost(await jobs.end(job, next.status, next.error), { result: next.status, reason });
  }

  #lost(job: ClaimedJob): Pick<EndedRun, 'result'> {
    const fields = { scan_job_id: job.id, domain: job.domain, next_step: AFTER_LOST_LEASE };
    this.#options.logger.warn(fields, 'scan job was taken over');
    return { result: 'lost' };
  }

  async #renewLeases(): Promise<void> {
    const { jobs, logger, renewMs = LEASE_MS / 4 } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      this.#renewedAt = performance.now();
      await wait(renewMs, undefined, { signal }).catch(() => {});
      const running = [...this.#running.values()];
      if (running.length === 0) continue;
      try {
        const held = await jobs.renew(running.map(({ job }) => job));
        const isLost = ({ job }: Running) => !held.has(job.id) && this.#running.has(job.leaseId);
        for (const { abort } of running.filter(isLost)) abort.abort(new Error('the job was taken over'));
      } catch (err) {
        logger.warn({ ...databaseErrorFields(err), jobs: running.length }, 'renewing scan job leases failed');
      }
    }
  }
}
