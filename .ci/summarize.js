// Prints `N passed, N failed` of jest result files. A later file replaces what an earlier one says of the same test files: a file that failed is
// run again, alone, and what it says then counts; one whose tests were skipped on a bare machine is run again with all programs. A test that
// failed and then passed is named, because it has to be mended. A ring that did not run, or a test that was skipped, is a failure; with --may-skip
// skipped tests are only counted, by reason.
//
//   node .ci/summarize.js [--may-skip] RESULTS...    the summary
//   node .ci/summarize.js --failed RESULTS...        paths of test files that failed, a line each
//   node .ci/summarize.js --skipped RESULTS...       paths of test files with skipped tests, a line each
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { countSkipped } from './skipped-tests-reporter.js';

const RINGS = {
  unit: /(?<!\.(?:it|containers|cluster))\.test\.ts$/,
  it: /\.it\.test\.ts$/,
  containers: /\.containers\.test\.ts$/,
  e2e: /\/e2e\/.*(?<!\.containers|\.cluster)\.test\.ts$/,
  chart: /\/e2e\/src\/chart\/.*\.test\.ts$/,
  cluster: /\.cluster\.test\.ts$/,
  tidy: /\/tidy\.test\.ts$/,
};

const flag = process.argv[2]?.startsWith('--') ? process.argv[2] : '';
const shown = (path) => relative(process.cwd(), path);
const titles = (result, status) => result.assertionResults.filter((one) => one.status === status).map(({ fullName }) => fullName);
/** Of one result: its failed tests, or the file itself where it failed outside of any test. */
const failuresOf = (result) => {
  const failed = titles(result, 'failed');
  return failed.length === 0 && result.status === 'failed' ? ['(the file itself)'] : failed;
};

/** Results by test file; a file has several where several projects run it. */
const byFile = new Map();
const unstable = [];
for (const path of process.argv.slice(flag === '' ? 2 : 3)) {
  const { testResults } = JSON.parse(readFileSync(path, 'utf8'));
  for (const name of new Set(testResults.map((result) => result.name))) {
    const now = testResults.filter((result) => result.name === name);
    const again = new Set(now.flatMap(failuresOf));
    const before = (byFile.get(name) ?? []).flatMap(failuresOf);
    unstable.push(...before.filter((title) => !again.has(title)).map((title) => `${shown(name)}: ${title}`));
    byFile.set(name, now);
  }
}

const files = [...byFile.keys()];
const results = [...byFile.values()].flat();
const failures = results.flatMap((result) => failuresOf(result).map((title) => `${shown(result.name)}: ${title}`));
const skippedOf = (among) => countSkipped(among.flatMap(({ assertionResults }) => assertionResults));
const listed = {
  '--failed': (name) => byFile.get(name).some((result) => failuresOf(result).length > 0),
  '--skipped': (name) => skippedOf(byFile.get(name)).length > 0,
}[flag];

if (listed !== undefined) {
  for (const name of files.filter(listed)) console.log(shown(name));
} else {
  const skipped = skippedOf(results);
  const missing = flag === '--may-skip' ? [] : Object.keys(RINGS).filter((ring) => !files.some((file) => RINGS[ring].test(file)));
  const skips = skipped.reduce((sum, [, count]) => sum + count, 0);
  const passed = results.reduce((sum, result) => sum + titles(result, 'passed').length, 0);
  const failed = failures.length + missing.length + (flag === '--may-skip' ? 0 : skips);
  for (const ring of missing) console.log(`the ring ${ring} did not run`);
  for (const title of unstable) console.log(`unstable, failed and then passed alone: ${title}`);
  for (const title of failures) console.log(`failed: ${title}`);
  for (const [reason, count] of skipped) console.log(`${count} tests skipped: ${reason}`);
  console.log(`${passed} passed, ${failed} failed${skips > 0 ? `, ${skips} skipped` : ''}`);
  process.exitCode = failed === 0 ? 0 : 1;
}
