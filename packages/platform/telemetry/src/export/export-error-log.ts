import { LogThrottle } from '../log-throttle.ts';

/** While the collector is unavailable, an export fails about every second. */
const INTERVAL_MS = 60_000;

/** Logs the first failed export at once, then every minute the latest with the number of the others, and on disposal what is left. */
export function exportErrorLog(log: (message: string) => void): LogThrottle<string> {
  return new LogThrottle(INTERVAL_MS, (message, count) =>
    log(count === 1 ? message : `${message} (and ${count - 1} more in the last minute)`),
  );
}
