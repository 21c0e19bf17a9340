// Prints `N passed, N failed` of jest result files. A ring that did not run, or a test that was skipped, is a failure; where no container
// engine can be had (VITRINE_WITHOUT_CONTAINERS), skipped tests are only counted.
import { readFileSync } from 'node:fs';

const RINGS = {
  unit: /(?<!\.(?:it|containers|cluster))\.test\.ts$/,
  it: /\.it\.test\.ts$/,
  containers: /\.containers\.test\.ts$/,
  e2e: /\/e2e\/.*(?<!\.containers|\.cluster)\.test\.ts$/,
  chart: /\/e2e\/src\/chart\/.*\.test\.ts$/,
  cluster: /\.cluster\.test\.ts$/,
  tidy: /\/tidy\.test\.ts$/,
};

const results = process.argv.slice(2).map((file) => JSON.parse(readFileSync(file, 'utf8')));
const sum = (count) => results.reduce((total, result) => total + result[count], 0);
const files = results.flatMap(({ testResults }) => testResults.map(({ name }) => name));
const missing = Object.entries(RINGS).filter(([, pattern]) => !files.some((file) => pattern.test(file)));
const skipped = sum('numPendingTests') + sum('numTodoTests');
const failures = sum('numFailedTests') + sum('numRuntimeErrorTestSuites') + missing.length;
const failed = process.env.VITRINE_WITHOUT_CONTAINERS === undefined ? failures + skipped : failures;

for (const [ring] of missing) console.log(`the ring ${ring} did not run`);
if (skipped > 0) console.log(`${skipped} tests were skipped`);
console.log(`${sum('numPassedTests')} passed, ${failed} failed`);
process.exitCode = failed === 0 && results.every(({ success }) => success) ? 0 : 1;
