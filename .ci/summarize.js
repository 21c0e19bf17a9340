// Prints `N passed, N failed` of a jest result file. A ring that did not run, or a test that was skipped, is a failure; where no container
// engine can be had (VITRINE_WITHOUT_CONTAINERS), skipped tests are only counted.
import { readFileSync } from 'node:fs';

const RINGS = {
  unit: /(?<!\.(?:it|containers))\.test\.ts$/,
  it: /\.it\.test\.ts$/,
  containers: /\.containers\.test\.ts$/,
  e2e: /\/e2e\/.*(?<!\.containers)\.test\.ts$/,
  tidy: /\/tidy\.test\.ts$/,
};

const result = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const files = result.testResults.map(({ name }) => name);
const missing = Object.entries(RINGS).filter(([, pattern]) => !files.some((file) => pattern.test(file)));
const skipped = result.numPendingTests + result.numTodoTests;
const failures = result.numFailedTests + result.numRuntimeErrorTestSuites + missing.length;
const failed = process.env.VITRINE_WITHOUT_CONTAINERS === undefined ? failures + skipped : failures;

for (const [ring] of missing) console.log(`the ring ${ring} did not run`);
if (skipped > 0) console.log(`${skipped} tests were skipped`);
console.log(`${result.numPassedTests} passed, ${failed} failed`);
process.exitCode = failed === 0 && result.success ? 0 : 1;
