import type { CommandContext } from './command.ts';

/** Time before the first line of progress, and between two lines. */
const INTERVAL_MS = 2_000;

interface ProgressOptions {
  /** The number of items at the end. */
  readonly total: number;
  /** The counted items, in the plural. */
  readonly items: string;
  readonly stderr: CommandContext['stderr'];
  /** A monotonic clock, milliseconds. */
  readonly now?: () => number;
}

/** Prints how many items are done, their rate and the time left, at most every two seconds. */
export function createProgress({ total, items, stderr, now = () => performance.now() }: ProgressOptions): (done: number) => void {
  const startedAt = now();
  let next = startedAt + INTERVAL_MS;
  return (done) => {
    if (now() < next) return;
    next = now() + INTERVAL_MS;
    const perSecond = done / ((now() - startedAt) / 1_000);
    const left = Math.max(0, Math.ceil((total - done) / perSecond));
    const percent = Math.min(100, Math.floor((100 * done) / Math.max(1, total)));
    stderr.write(`${done} of ${total} ${items} (${percent} %), ${Math.round(perSecond)} per second, about ${left} s left\n`);
  };
}
