import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { Transaction } from '@vitrine/postgres/transaction';
import type { Observation } from '@vitrine/stores/observation/observation-facts';
import type { Logger } from '@vitrine/telemetry/logger';
import { databaseErrorFields } from '@vitrine/postgres/database-error-fields';
import type { RunResult } from './jobs/job-runner.ts';
import { holdJob, type ClaimedJob } from './jobs/scan-jobs.ts';
import { NO_LIMITS, type HostRateLimiter } from './politeness/host-rate-limiter.ts';
import { moveNextScan } from './rescan/rescan-scheduler.ts';
import type { CommittedSignals, ScanCapture, ScanStorefront } from './scan/scan-ports.ts';
import { publicUrlsOf } from '@vitrine/stores/profile/render-profile';
import { detect } from '@vitrine/registry/detection/detect';
import { storeEvidence } from '@vitrine/registry/evidence/evidence';
import { REGISTRY_CHECKSUM, REGISTRY_INDEX } from '@vitrine/registry/rules/rule-index';
import { commitObservation } from '@vitrine/stores/commit/commit-observation';
import type { Rules } from '@vitrine/stores/commit/rule-sets';
import { createId } from '@vitrine/stores/identifiers';
import { randomBytes } from 'node:crypto';
import { type ScanConfig, VERSION } from './config.ts';
import { createFetchSettings } from './fetch/fetch-settings.ts';
import { createScanStorefront } from './fetch/scan-storefront.ts';
import { describeStorefront } from './observation/describe-storefront.ts';

/** Makes the observation of a completed scan, without its id and job. Pure. */
export type Describe = (capture: ScanCapture) => Pick<Observation, 'facts' | 'evidence' | 'registry_checksum'>;

/** Writes an observation and what follows from it in the caller's transaction, with the end of its job. Resolves with the changes of signals. */
export type Commit = (transaction: Transaction, completed: Omit<Observation, 'id'>) => Promise<CommittedSignals>;

/** The steps of a scan. */
export interface ScanSteps {
  readonly scanStorefront: ScanStorefront;
  readonly describe: Describe;
  readonly commit: Commit;
}

export interface RunScanTools extends ScanSteps {
  readonly pool: PostgresPool;
  /** Undefined: politeness is off. */
  readonly turns: HostRateLimiter | undefined;
  readonly cadenceMs: number;
  readonly onCommit: (scope: string, committed: CommittedSignals) => void;
  readonly logger: Logger;
}

const AFTER_HOLD =
  'check whether its rules still detect it: npm run enrich-scan-queue -- rules explain; docs/failure-modes.md#held-removals';
const DENYLISTED = { outcome: 'blocked', reason: 'denylisted', detail: 'the domain is on the denylist' } as const;

/** Runs the scan of a claimed job: reads the storefront, and commits the observation in one transaction, which fails if another process has taken
 *  the job in the meantime. A failed attempt changes nothing. Rejects with the driver's errors. */
export function createRunScan(tools: RunScanTools): (job: ClaimedJob, signal: AbortSignal) => Promise<RunResult> {
  return async (job, signal) => {
    const { pool } = tools;
    const denied = await pool.query('SELECT 1 FROM domain_denylist WHERE domain = $1', [job.domain]);
    if (denied.length > 0) return DENYLISTED;
    const result = await readStorefront(job, signal, tools);
    if ('outcome' in result) return result;
    const committed = await commit(job, result, tools);
    if (committed === undefined) return { outcome: 'lost' };
    tools.onCommit(result.scope, committed);
    if (committed.holds.length > 0) {
      const fields = { technologies: committed.holds, domain: job.domain, next_step: AFTER_HOLD };
      tools.logger.warn(fields, 'removals of technologies held');
    }
    return { outcome: 'completed' };
  };
}

async function readStorefront({ domain, cause, leaseId }: ClaimedJob, signal: AbortSignal, tools: RunScanTools) {
  const { turns, scanStorefront, logger } = tools;
  if (turns === undefined) return scanStorefront(domain, { gate: NO_LIMITS, signal });
  try {
    return await scanStorefront(domain, { gate: turns.gateOf(leaseId, cause), signal });
  } finally {
    // A connection that could not be released expires.
    await turns
      .release(leaseId)
      .catch((err: unknown) => logger.warn({ ...databaseErrorFields(err), domain }, 'releasing scan connection failed'));
  }
}

function commit(job: ClaimedJob, capture: ScanCapture, { pool, describe, commit: write, cadenceMs }: RunScanTools) {
  const { startedAt: started_at, completedAt: completed_at } = capture;
  const observation = { ...describe(capture), scan_job_id: job.id, started_at, completed_at };
  return pool.transaction(async (transaction) => {
    if (!(await holdJob(transaction, job))) return undefined;
    const committed = await write(transaction, observation);
    await moveNextScan(transaction, [job.domain], cadenceMs);
    return committed;
  });
}

/** As sightings have them. */
const MAX_ID_CHARACTERS = 200;

/** The rules of this build, for comparisons with observations under other rules. Evidence of another version is not read. */
export const RULES: Rules = {
  registry_checksum: REGISTRY_CHECKSUM,
  ids: [...new Set(REGISTRY_INDEX.ruleIds.map((id) => id.slice(0, MAX_ID_CHARACTERS)))],
  detect: (evidence) => {
    const { data } = storeEvidence.safeParse(evidence);
    return data && detect(data);
  },
};

/** The steps of a scan: read the storefront, describe what was read, commit what follows from it. `now`: milliseconds since the epoch. */
export function createScanSteps(config: ScanConfig, now: () => number): ScanSteps {
  const urls = publicUrlsOf(config.public);
  return {
    scanStorefront: createScanStorefront({
      settings: createFetchSettings(config.fetch, VERSION),
      now,
    }),
    describe: (capture) => ({ ...describeStorefront(capture, detect), registry_checksum: REGISTRY_CHECKSUM }),
    commit: async (transaction, completed) => {
      const observation = { ...completed, id: newId('obs') };
      const createStorefrontId = () => newId('sf');
      return commitObservation(transaction, observation, { urls, createStorefrontId, rules: RULES });
    },
  };
}

function newId(prefix: 'obs' | 'sf'): string {
  return createId(prefix, Date.now(), randomBytes);
}
