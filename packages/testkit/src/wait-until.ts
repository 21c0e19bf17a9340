import { setTimeout as wait } from 'node:timers/promises';

/** The pause between checks grows with the time waited, because most checks are requests. */
const [MIN_POLL_MS, MAX_POLL_MS] = [5, 25];
/** Long enough for a machine that is busy with other tests. A successful check returns at once. */
const DEFAULT_TIMEOUT_MS = 60_000;

type Checked<T> = T | undefined | false;

/** Polls until `check` returns a value other than undefined or false, and returns it. Throws an error that names `what`. */
export async function waitUntil<T>(
  check: () => Checked<T> | Promise<Checked<T>>,
  { what, timeoutMs = DEFAULT_TIMEOUT_MS }: { what: string; timeoutMs?: number },
): Promise<T> {
  const startedAt = performance.now();
  for (;;) {
    const result = await check();
    if (result !== undefined && result !== false) return result;
    const waitedMs = performance.now() - startedAt;
    if (waitedMs >= timeoutMs) throw new Error(`waited ${timeoutMs} ms for ${what}`);
    await wait(Math.min(Math.max(MIN_POLL_MS, waitedMs / 20), MAX_POLL_MS));
  }
}
