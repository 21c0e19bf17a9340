/** Whether tests run at their full length, by `VITRINE_LONG_RUNS=1`. */
export function isLongRun(): boolean {
  return process.env['VITRINE_LONG_RUNS'] === '1';
}

/** How often a property test runs its property: a tenth of `long`, but at least 100 times. A long run runs it `long` times. */
export function propertyRuns(long: number): number {
  return isLongRun() ? long : Math.min(long, Math.max(100, long / 10));
}
