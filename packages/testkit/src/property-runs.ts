/** How often a property test runs its property: a tenth of `long`, but at least 100 times. `VITRINE_LONG_RUNS=1` runs it `long` times. */
export function propertyRuns(long: number): number {
  return process.env['VITRINE_LONG_RUNS'] === '1' ? long : Math.min(long, Math.max(100, long / 10));
}
