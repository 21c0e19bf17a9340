import { DAY_MS } from './time-buckets.ts';

/** Roll-ups and quotas outlive their traces. Spec: gateway decisions, section 6. */
const ROLLUPS_KEPT_DAYS = 400;

/** Removal of what is old. Faults: `trace_store_unavailable`. */
export interface Retention {
  /** Removes some of the traces made before a moment, oldest first; resolves with their number. To be called until that is 0, when also the
   *  roll-ups of what began before `rollupsBeforeMs` are gone. */
  removeOlderThan(createdBeforeMs: number, rollupsBeforeMs?: number): Promise<number>;
}

/** A store's one maintenance loop: every `intervalMs` it removes traces older than `retentionDays` and roll-ups older than 400 days, a little
 *  at a time. */
export function keepRetention(
  store: Retention,
  retentionDays: number,
  report: (error: unknown) => void,
  intervalMs: number = 60_000,
): Disposable {
  let running = false;
  const timer = setInterval(() => {
    if (running) return;
    running = true;
    const [traces, rollups] = [retentionDays, ROLLUPS_KEPT_DAYS].map((days) => Date.now() - days * DAY_MS);
    const removeAll = async () => {
      while ((await store.removeOlderThan(traces ?? 0, rollups)) > 0);
    };
    removeAll()
      .catch(report)
      .finally(() => (running = false));
  }, intervalMs);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
