// Prints `N passed, N failed` of jest result files. A later file replaces what an earlier one says of the same test files: a file that failed is
// run again, alone, and what it says then counts. A test that failed and then passed is named, because it has to be mended. A ring that did not
// run, or a test that was skipped, is a failure; where no container engine can be had (VITRINE_WITHOUT_CONTAINERS), skipped tests are only counted.
//
//   node .ci/summarize.js RESULTS...             the summary
//   node .ci/summarize.js --failed RESULTS...    paths of test files that failed, a line each
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

const RINGS = {
  unit: /(?<!\.(?:it|containers|cluster))\.test\.ts$/,
  it: /\.it\.test\.ts$/,
  containers: /\.containers\.test\.ts$/,
  e2e: /\/e2e\/.*(?<!\.containers|\.cluster)\.test\.ts$/,
  chart: /\/e2e\/src\/chart\/.*\.test\.ts$/,
  cluster: /\.cluster\.test\.ts$/,
  tidy: /\/tidy\.test\.ts$/,
};

const isList = process.argv[2] === '--failed';
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
for (const path of process.argv.slice(isList ? 3 : 2)) {
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
const count = (...statuses) =>
  results.reduce((sum, result) => sum + statuses.flatMap((status) => titles(result, status)).length, 0);

if (isList) {
  for (const name of files) if (byFile.get(name).some((result) => failuresOf(result).length > 0)) console.log(shown(name));
} else {
  const missing = Object.entries(RINGS).filter(([, pattern]) => !files.some((file) => pattern.test(file)));
  const skipped = count('pending', 'todo', 'skipped', 'disabled');
  const failed = failures.length + missing.length + (process.env.VITRINE_WITHOUT_CONTAINERS === undefined ? skipped : 0);
  for (const [ring] of missing) console.log(`the ring ${ring} did not run`);
  for (const title of unstable) console.log(`unstable, failed and then passed alone: ${title}`);
  for (const title of failures) console.log(`failed: ${title}`);
  if (skipped > 0) console.log(`${skipped} tests were skipped`);
  console.log(`${count('passed')} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}
