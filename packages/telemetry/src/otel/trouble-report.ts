/** A gone collector fails an export every second or so; people are told at once, and then of all that followed. */
const INTERVAL_MS = 60_000;

/** Passes on the first message, and later at most one a minute, with the number of those that were left out. `clock`: milliseconds. */
export function createTroubleReport(tell: (message: string) => void, clock: () => number): (message: string) => void {
  let quietUntil = Number.NEGATIVE_INFINITY;
  let untold = 0;
  return (message) => {
    if (clock() < quietUntil) {
      untold += 1;
      return;
    }
    quietUntil = clock() + INTERVAL_MS;
    tell(untold === 0 ? message : `${message} (and ${untold} more in the last minute)`);
    untold = 0;
  };
}
