/** A longer word is no misspelling of a command or an option. */
const MAX_LENGTH = 64;

/** `; did you mean X?` with the known word that is nearest to a misspelt one; '' when none is near. At most one in three characters may
 *  differ. Spec: G18.9. */
export function didYouMean(word: string, known: readonly string[]): string {
  if (word.length > MAX_LENGTH) return '';
  const [nearest] = known
    .map((one) => ({ one, edits: editsBetween(word, one) }))
    .filter(({ one, edits }) => edits <= Math.max(1, Math.floor(one.length / 3)))
    .toSorted((left, right) => left.edits - right.edits);
  return nearest === undefined ? '' : `; did you mean ${nearest.one}?`;
}

/** Insertions, deletions, replacements and swaps of neighbours that change one word into the other. */
function editsBetween(one: string, other: string): number {
  let [before, row]: [number[], number[]] = [[], Array.from({ length: other.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const isSame = one[i - 1] === other[j - 1];
      const isSwap = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const edits = [
        row[j]! + 1,
        next[j - 1]! + 1,
        row[j - 1]! + Number(!isSame),
        isSwap ? before[j - 2]! + 1 : Number.POSITIVE_INFINITY,
      ];
      next.push(Math.min(...edits));
    }
    [before, row] = [row, next];
  }
  return row[other.length] ?? 0;
}
