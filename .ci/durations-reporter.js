// A reporter of jest that prints at the end of a run how long the test files of each ring took together. Files run on four workers, so the run
// itself takes about a quarter of that.

/** Rings with the number of their files and the sum of their seconds, the longest first. `results` are jest's results of test files. */
export function durationsByRing(results) {
  return [...Map.groupBy(results, ({ displayName }) => displayName?.name ?? 'other')]
    .map(([ring, files]) => ({
      ring,
      files: files.length,
      seconds: files.reduce((sum, { perfStats }) => sum + perfStats.runtime / 1_000, 0),
    }))
    .toSorted((one, other) => other.seconds - one.seconds);
}

export default class DurationsReporter {
  onRunComplete(_contexts, { testResults }) {
    for (const { ring, files, seconds } of durationsByRing(testResults))
      process.stderr.write(`${ring}: ${files} files, ${seconds.toFixed(0)} s\n`);
  }
}
