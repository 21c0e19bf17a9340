import { setTimeout as wait } from 'node:timers/promises';

const POLL_MS = 5;
/** Long enough for a machine that is busy with other tests. A successful check returns at once. */
const DEFAULT_TIMEOUT_MS = 60_000;

type Checked<T> = T | undefined | false;

/** Polls until `check` returns a value other than undefined or false, and returns it. Throws an error that names `what`. */
export async function waitUntil<T>(
  check: () => Checked<T> | Promise<Checked<T>>,
  { what, timeoutMs = DEFAULT_TIMEOUT_MS }: { what: string; timeoutMs?: number },
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const result = await check();
    if (result !== undefined && result !== false) return result;
    if (performance.now() >= deadline) throw new Error(`waited ${timeoutMs} ms for ${what}`);
    await wait(POLL_MS);
  }
}
