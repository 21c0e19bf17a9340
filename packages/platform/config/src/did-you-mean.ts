/** With more edits, a suggestion would be a guess. */
const MAX_EDITS = 3;

/** `; did you mean X?` with the known name that is nearest to a mistyped one; '' when none is near. At most one in three characters may
 *  differ, and no more than three. Spec: G18.9. */
export function didYouMean(name: string, known: readonly string[]): string {
  const [nearest] = known
    // Bounds the work for a long name.
    .filter((one) => Math.abs(one.length - name.length) <= allowedEdits(one))
    .map((one) => ({ one, edits: editsBetween(name, one) }))
    .filter(({ one, edits }) => edits <= allowedEdits(one))
    .toSorted((a, b) => a.edits - b.edits);
  return nearest === undefined ? '' : `; did you mean ${nearest.one}?`;
}

function allowedEdits({ length }: string): number {
  return Math.min(MAX_EDITS, Math.max(1, Math.floor(length / 3)));
}

/** Insertions, deletions, replacements and swaps of neighbours that change one text into the other. */
function editsBetween(one: string, other: string): number {
  let [before, row]: [number[], number[]] = [[], Array.from({ length: other.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const isSwap = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const replaced = row[j - 1]! + Number(one[i - 1] !== other[j - 1]);
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, replaced, isSwap ? before[j - 2]! + 1 : replaced));
    }
    [before, row] = [row, next];
  }
  return row[other.length] ?? 0;
}
