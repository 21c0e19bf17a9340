import { expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';

/** Prints the size in MiB of a worker thread's young generation after 30 MB of garbage. */
const PRINT_SEMI_SPACE = `
  const garbage = \`
    let kept = [];
    for (let made = 0; made < 1_000_000; made += 1) kept = made % 100 === 0 ? [] : [...kept.slice(-1), made];
    const { space_size } = process.getBuiltinModule('node:v8').getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
    console.log(space_size / 2 ** 20);\`;
  new Worker(garbage, { eval: true, resourceLimits: { maxYoungGenerationSizeMb: 4 } });`;

test.each([
  ['holds for worker threads too', '', 32],
  ['holds for the main thread only when worker threads are freed of it', 'freeWorkerSemiSpaces();', 4],
])('the semi-space of the command line %s', (_, free, expected) => {
  const url = new URL('./heap-flags.ts', import.meta.url).href;
  const script = `
    import { Worker } from 'node:worker_threads';
    const { freeWorkerSemiSpaces } = await import(${JSON.stringify(url)});
    ${free} ${PRINT_SEMI_SPACE}`;
  const flags = ['--min-semi-space-size=16', '--max-semi-space-size=16', '--input-type=module'];
  expect(Number(execFileSync(process.execPath, [...flags, '--eval', script], { encoding: 'utf8' }))).toBe(expected);
});
