import { readdir } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import type { Pipeline } from './pipeline.ts';

const POLL_MS = 1_000;

/** Traces still on their way to Postgres. */
interface UnderWay {
  readonly queued: number;
  readonly spoolFiles: number;
  readonly lag: number;
}

/** Watches the lag of the trace-writers until disposed. */
export class LagMonitor implements Disposable {
  readonly #timer: NodeJS.Timeout;
  #isReading = false;
  /** The maximum number of uncommitted records in the topic. */
  maxLag = 0;

  constructor(pipeline: Pipeline) {
    this.#timer = setInterval(() => void this.#read(pipeline), POLL_MS);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  async #read({ topic }: Pipeline): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    // While the broker is unavailable nothing is read.
    this.maxLag = Math.max(this.maxLag, await topic.lag().catch(() => 0));
    this.#isReading = false;
  }
}

/** Resolves with true when no gateway and no topic has a pending trace, or with false after `timeoutMs`. */
export async function untilDrained(
  pipeline: Pipeline,
  { timeoutMs, signal, onProgress }: { timeoutMs: number; signal: AbortSignal; onProgress: (line: string) => void },
): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  let last = '';
  while (performance.now() < deadline) {
    const left = await underWay(pipeline).catch(String);
    if (typeof left === 'object' && left.queued + left.spoolFiles + left.lag === 0) return true;
    const line =
      typeof left === 'string' ? left : `${left.queued} queued, ${left.spoolFiles} spool files, ${left.lag} in the topic`;
    if (line !== last) onProgress(line);
    last = line;
    await wait(POLL_MS, undefined, { signal });
  }
  return false;
}

/** Checked in pipeline order, so that traces that left one place are seen in the next. */
async function underWay(pipeline: Pipeline): Promise<UnderWay> {
  let [queued, spoolFiles] = [0, 0];
  for (const [at, gateway] of pipeline.gateways.entries()) {
    queued += (await gateway.running.diagnostics()).queue_depth;
    spoolFiles += (await readdir(pipeline.spoolPath(at))).filter((file) => file.endsWith('.segment')).length;
  }
  return { queued, spoolFiles, lag: await pipeline.topic.lag() };
}
