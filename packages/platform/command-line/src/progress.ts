/** Time before the first line of progress, and between two lines. */
const INTERVAL_MS = 2_000;

interface ProgressOptions {
  /** The number of items at the end. */
  readonly total: number;
  /** What is counted, in the plural. */
  readonly items: string;
  /** A monotonic clock, milliseconds. */
  readonly now: () => number;
  readonly print: (line: string) => void;
}

/** Prints how many items are done, their rate and the time left, at most every two seconds. */
export function createProgress({ total, items, now, print }: ProgressOptions): (done: number) => void {
  const startedAt = now();
  let next = startedAt + INTERVAL_MS;
  return (done) => {
    if (now() < next) return;
    next = now() + INTERVAL_MS;
    const perSecond = done / ((now() - startedAt) / 1_000);
    const left = Math.max(0, Math.ceil((total - done) / perSecond));
    const percent = Math.min(100, Math.floor((100 * done) / Math.max(1, total)));
    print(`${done} of ${total} ${items} (${percent} %), ${Math.round(perSecond)} per second, about ${left} s left\n`);
  };
}
