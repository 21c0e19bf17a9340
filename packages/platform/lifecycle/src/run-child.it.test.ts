import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { EventEmitter } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runChild } from './run-child.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder('child');
});
afterAll(async () => folder[Symbol.asyncDispose]());

const env = { PATH: process.env['PATH'] };
const run = (file: string, ...args: string[]) => runChild(new EventEmitter(), { file, args, env }, false);
const shell = (script: string) => run('sh', '-c', script);

test.each([
  ['exit 0', 0],
  ['exit 3', 3],
  ['exit 255', 255],
  ['kill -TERM $$', 143],
  ['kill -KILL $$', 137],
])('%s ends with %i', async (script, exitCode) => {
  expect(await shell(script)).toEqual({ exitCode });
});

test('a program that cannot be run has the exit code of a shell: 127 when it does not exist, 126 when it is not executable', async () => {
  expect(await run('no-such-program-here')).toEqual({ exitCode: 127, failure: expect.stringContaining('ENOENT') });
  const plain = join(folder.path, 'plain.txt');
  await writeFile(plain, 'text', { mode: 0o644 });
  expect(await run(plain)).toEqual({ exitCode: 126, failure: expect.stringContaining('EACCES') });
});

test('the child has the given variables and working directory', async () => {
  const script = 'printf "%s %s" "$GREETING" "$(pwd)" > out.txt';
  const child = { file: 'sh', args: ['-c', script], env: { ...env, GREETING: 'hello' }, cwd: folder.path };
  expect(await runChild(new EventEmitter(), child, false)).toEqual({ exitCode: 0 });
  expect(readFileSync(join(folder.path, 'out.txt'), 'utf8')).toBe(`hello ${folder.path}`);
});

describe('signals', () => {
  /** A child that writes received signals to a file, and ends with 5 on `TERM`. */
  const start = async (name: string, isTerminal: boolean) => {
    const log = join(folder.path, `${name}.log`);
    const script = `trap 'echo INT >> ${log}' INT; trap 'echo TERM >> ${log}; exit 5' TERM; echo READY >> ${log}
      while :; do sleep 0.05; done`;
    const own = new EventEmitter();
    const ended = runChild(own, { file: 'sh', args: ['-c', script], env }, isTerminal);
    const lines = () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []);
    await waitUntil(() => lines().includes('READY'), { what: 'the child to be ready' });
    return { own, ended, lines };
  };

  test('are forwarded to the child, and the handlers are removed afterwards', async () => {
    const { own, ended, lines } = await start('plain', false);
    own.emit('SIGINT');
    await waitUntil(() => lines().includes('INT'), { what: 'SIGINT in the child' });
    own.emit('SIGTERM');
    expect(await ended).toEqual({ exitCode: 5 });
    expect(own.eventNames()).toEqual([]);
  });

  test('SIGINT is not forwarded at a terminal, which sends it to the child itself', async () => {
    const { own, ended, lines } = await start('terminal', true);
    own.emit('SIGINT');
    own.emit('SIGTERM');
    expect(await ended).toEqual({ exitCode: 5 });
    expect(lines()).toEqual(['READY', 'TERM']);
  });
});
