/** No clocks of a cluster are so far apart; the shortest interval is as long. */
const MAX_AHEAD_MS = 3_600_000;

/** When a token is to be replaced, milliseconds since the epoch. One that was made in the future, by a clock that was wrong, is as one of which it is
 *  not known: it would not be replaced before that day.
 *  @param rotatedAt - when it was made, as far as is known */
export function rotationDueAt(rotatedAt: number | undefined, intervalMs: number, now: number): number {
  const isKnown = rotatedAt !== undefined && rotatedAt <= now + MAX_AHEAD_MS;
  return (isKnown ? rotatedAt : 0) + intervalMs;
}
