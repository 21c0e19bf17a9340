/** Asserts a condition that must be true for any external input. A failure is a bug, not an operating fault. */
export function invariant(condition: unknown, claim: string): asserts condition {
  if (!condition) throw new Error(`invariant violated: ${claim}`);
}
