// Prints `N passed, N failed` of a jest result file. A ring that did not run, or a test that was skipped, is a failure.
import { readFileSync } from 'node:fs';

const RINGS = { unit: /(?<!\.it)\.test\.ts$/, it: /\.it\.test\.ts$/, e2e: /\/e2e\/.*\.test\.ts$/, tidy: /\/tidy\.test\.ts$/ };

const result = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const files = result.testResults.map(({ name }) => name);
const missing = Object.entries(RINGS).filter(([, pattern]) => !files.some((file) => pattern.test(file)));
const skipped = result.numPendingTests + result.numTodoTests;
const failed = result.numFailedTests + result.numRuntimeErrorTestSuites + skipped + missing.length;

for (const [ring] of missing) console.log(`the ring ${ring} did not run`);
if (skipped > 0) console.log(`${skipped} tests were skipped`);
console.log(`${result.numPassedTests} passed, ${failed} failed`);
process.exitCode = failed === 0 && result.success ? 0 : 1;
