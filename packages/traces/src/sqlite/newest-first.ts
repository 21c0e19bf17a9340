import type { Stretch } from './stretch.ts';

/** Where something is, newest first and disjoint, from `top` downwards. `look` tells where it is in a part of the file, and is asked
 *  only as far as the stretches are: parts may overlap, and `known` is what is known without looking. */
export function* newestFirst<Part extends Stretch>(
  parts: readonly Part[],
  look: (part: Part) => readonly Stretch[],
  known: readonly Stretch[],
  top: number,
): Generator<Stretch> {
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

/** What stretches cover from `oldest` to `newest`. */
function* joined(stretches: readonly Stretch[], oldest: number, newest: number): Generator<Stretch> {
  const sorted = stretches
    .filter((stretch) => stretch.newest >= oldest && stretch.oldest <= newest)
    .map((stretch) => ({ oldest: Math.max(oldest, stretch.oldest), newest: Math.min(newest, stretch.newest) }))
    .toSorted((left, right) => right.newest - left.newest);
  let last: Stretch | undefined;
  for (const stretch of sorted) {
    if (last !== undefined && stretch.newest < last.oldest - 1) {
      yield last;
      last = undefined;
    }
    last = { oldest: Math.min(stretch.oldest, last?.oldest ?? stretch.oldest), newest: last?.newest ?? stretch.newest };
  }
  if (last !== undefined) yield last;
}
