import { expect, test } from '@jest/globals';
import { join } from 'node:path';
import { ROOT, startProcess } from './running-process.ts';

const RUN_PROGRAM = join(ROOT, 'packages/lifecycle/src/run-program.ts');

/** A program that outlives its bugs and prints until it is told that nobody reads it; then it prints once more. */
const PRINTER = `
  const { runProgram, surviveBugs } = await import(${JSON.stringify(RUN_PROGRAM)});
  const print = () => new Promise((resolve) => process.stdout.write('a line\\n', resolve));
  await runProgram(process, { name: 'printer', help: '', main: async () => {
    surviveBugs(process, (error) => process.stderr.write('a bug was survived: ' + error + '\\n'));
    while (!((await print()) instanceof Error));
    await print();
    process.stderr.write('whole\\n');
    return 0;
  } });`;

test('a program whose reader has left goes on, and does not take that for a bug', async () => {
  const pipe = '"$@" | head -n 1; exit 0';
  await using running = startProcess({
    command: ['sh', '-c', pipe, '--', process.execPath, '--input-type=module', '-e', PRINTER],
  });
  expect(await running.end()).toEqual({ code: 0, signal: null });
  expect([running.stdout, running.stderr]).toEqual(['a line\n', 'whole\n']);
});
