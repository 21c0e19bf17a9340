/** With more edits, a suggestion would be a guess. */
const MAX_DISTANCE = 3;

/** The known name closest to a mistyped one; undefined when none is close. */
export function nearestOf(name: string, known: readonly string[]): string | undefined {
  const [nearest] = known
    .filter((one) => Math.abs(one.length - name.length) <= MAX_DISTANCE)
    .map((one) => ({ one, distance: distanceOf(name, one) }))
    .toSorted((a, b) => a.distance - b.distance);
  return nearest !== undefined && nearest.distance <= MAX_DISTANCE ? nearest.one : undefined;
}

/** Levenshtein distance: the number of letters to add, remove or replace. */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (const [i, letter] of a.split('').entries()) {
    const next = [i + 1];
    for (const [j, other] of b.split('').entries())
      next.push(Math.min((next[j] ?? 0) + 1, (row[j + 1] ?? 0) + 1, (row[j] ?? 0) + (letter === other ? 0 : 1)));
    row = next;
  }
  return row[b.length] ?? 0;
}
