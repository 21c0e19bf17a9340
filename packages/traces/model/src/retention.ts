import type { RetentionRun } from '@vitrine/lifecycle/retention-clock';
import { RetentionLog, type Removed } from '@vitrine/telemetry/retention-log';
import { DAY_MS } from './time-buckets.ts';

/** Roll-ups and quotas outlive their traces. Spec: G17.1 to G17.3. */
const ROLLUPS_KEPT_DAYS = 400;
const INTERVAL_MS = 60_000;

/** Removal of old data. Faults: `trace_store_unavailable`. */
export interface Retention {
  /** Advances the time by which this store removes data, and stores it. */
  advanceRetention(): Promise<RetentionRun>;
  /** Removes some of the traces created before a time, oldest first, and resolves with their summary. Call it until nothing is removed. Then
   *  the roll-ups that began before `rollupsBeforeMs` are gone, too. */
  removeOlderThan(createdBeforeMs: number, rollupsBeforeMs?: number): Promise<Removed[]>;
}

interface RetentionOptions {
  readonly retentionDays: number;
  readonly logger: ConstructorParameters<typeof RetentionLog>[0];
  readonly onError: (error: unknown) => void;
  readonly intervalMs?: number;
}

/** A store's one maintenance loop: every minute it removes traces older than `retentionDays` and roll-ups older than 400 days, in small steps, and
 *  logs a summary of the removed rows. */
export function keepRetention(
  store: Retention,
  { retentionDays, logger, onError, intervalMs = INTERVAL_MS }: RetentionOptions,
): Disposable {
  const log = new RetentionLog(logger);
  let running = false;
  const timer = setInterval(() => {
    if (running) return;
    running = true;
    applyRetention(store, retentionDays, log)
      .catch(onError)
      .finally(() => (running = false));
  }, intervalMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

async function applyRetention(store: Retention, retentionDays: number, log: RetentionLog): Promise<void> {
  const run = await store.advanceRetention();
  log.began(run);
  const [traces, rollups] = [retentionDays, ROLLUPS_KEPT_DAYS].map((days) => run.at - days * DAY_MS) as [number, number];
  await log.removeAll(() => store.removeOlderThan(traces, rollups));
}
