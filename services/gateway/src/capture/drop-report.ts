import type { Logger } from '@vitrine/telemetry/logger';

/** Logs dropped traces: the first at once, then what came together every ten seconds, so that an outage does not flood the log. */
export function createDropReport(logger: Logger, clock: () => number, intervalMs = 10_000) {
  let quietUntil = 0;
  let unsaid = 0;
  return ({ where, count, reason }: { where: 'enqueue' | 'write'; count: number; reason?: unknown }): void => {
    unsaid += count;
    if (clock() < quietUntil) return;
    quietUntil = clock() + intervalMs;
    logger.error({ where, count: unsaid, reason }, 'traces were dropped');
    unsaid = 0;
  };
}
