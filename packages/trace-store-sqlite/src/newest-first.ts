import type { TimeRange } from './time-range.ts';

/** Yields the ranges that match, newest first and disjoint, from `top` downwards. `look` finds them in a part of the file, and is called
 *  only as far as the caller iterates; parts may overlap. `known`: ranges that match already. */
export function* newestFirst<Part extends TimeRange>(
  parts: readonly Part[],
  look: (part: Part) => readonly TimeRange[],
  known: readonly TimeRange[],
  top: number,
): Generator<TimeRange> {
  const sorted = parts.filter(({ oldest }) => oldest <= top).toSorted((left, right) => right.newest - left.newest);
  let below = top;
  // What has been looked at and reaches below `below`.
  let open = known;
  for (let i = -1; i < sorted.length; i += 1) {
    const part = sorted[i];
    if (part !== undefined) open = open.concat(look(part));
    // Everything newer than the next part has been looked at.
    const next = sorted[i + 1]?.newest ?? -1;
    if (next >= below) continue;
    yield* joined(open, next + 1, below);
    open = open.filter(({ oldest }) => oldest <= next);
    below = next;
  }
}

/** The union of ranges from `oldest` to `newest`. */
function* joined(ranges: readonly TimeRange[], oldest: number, newest: number): Generator<TimeRange> {
  const sorted = ranges
    .filter((range) => range.newest >= oldest && range.oldest <= newest)
    .map((range) => ({ oldest: Math.max(oldest, range.oldest), newest: Math.min(newest, range.newest) }))
    .toSorted((left, right) => right.newest - left.newest);
  let last: TimeRange | undefined;
  for (const range of sorted) {
    if (last !== undefined && range.newest < last.oldest - 1) {
      yield last;
      last = undefined;
    }
    last = { oldest: Math.min(range.oldest, last?.oldest ?? range.oldest), newest: last?.newest ?? range.newest };
  }
  if (last !== undefined) yield last;
}
