import { databaseErrorFields } from '@vitrine/postgres/database-error-fields';
import type { Logger } from '@vitrine/telemetry/logger';
import { setTimeout as wait } from 'node:timers/promises';
import type { JobRunner } from './job-runner.ts';
import type { ScanJobs } from './scan-jobs.ts';
import type { ScanSlots } from './scan-slots.ts';

const POLL_MS = 1_000;
const SLOT_WAIT_MS = 5_000;

interface DueJobsTools {
  readonly jobs: Pick<ScanJobs, 'firstDue' | 'claimDue'>;
  readonly slots: ScanSlots;
  readonly runner: Pick<JobRunner, 'claim'>;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Called in each round. */
  readonly onRound: () => void;
  readonly pollMs?: number;
}

/** Takes due jobs: further attempts, postponed scans, and jobs of processes that died. Resolves when the signal is aborted. */
export async function runDueJobs(tools: DueJobsTools): Promise<void> {
  const { logger, signal, onRound, pollMs = POLL_MS } = tools;
  while (!signal.aborted) {
    onRound();
    try {
      if (await runFirstDue(tools)) continue;
    } catch (err) {
      logger.warn({ ...databaseErrorFields(err) }, 'loading due scan jobs failed');
    }
    await wait(pollMs, undefined, { signal }).catch(() => {});
  }
}

/** Whether there may be more. */
async function runFirstDue({ jobs, slots, runner, signal }: DueJobsTools): Promise<boolean> {
  const cause = await jobs.firstDue();
  if (cause === undefined || !(await slots.take(cause, SLOT_WAIT_MS))) return false;
  return runner.claim(async () => (signal.aborted ? undefined : jobs.claimDue()));
}
