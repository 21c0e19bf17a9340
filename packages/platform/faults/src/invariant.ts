/** States what must hold here whatever comes from outside; a failure is a bug of ours, not an operating fault. */
export function invariant(condition: unknown, claim: string): asserts condition {
  if (!condition) throw new Error(`invariant violated: ${claim}`);
}
