import { describe, expect, test } from '@jest/globals';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, startProcess, type ProcessOptions } from './running-process.ts';

const PRELOADED = join(ROOT, 'packages/platform/lifecycle/src/prepare-node.js');
/** Where machines that come with a Node have it; it may be any version. */
const OWN_NODE = '/usr/bin/node';

/** Runs this Node as if it were another version. */
const as = (version: string): ProcessOptions['command'] => [
  process.execPath,
  '--input-type=module',
  '-e',
  `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } });
   await import(${JSON.stringify(PRELOADED)});
   console.log('went on');`,
];

async function run(command: ProcessOptions['command']) {
  await using running = startProcess({ command });
  const { code } = await running.end();
  return { code, stdout: running.stdout, stderr: running.stderr };
}

describe('the version of Node', () => {
  test.each(['18.20.8', '20.20.2', '22.22.0', '24.0.0', '24.11.1'])('%s is rejected with the next step', async (version) => {
    const { code, stdout, stderr } = await run(as(version));
    expect(stderr).toContain(`was started by Node ${version}`);
    expect(stderr).toContain('npm rebuild node --ignore-scripts=false');
    expect(stderr).not.toMatch(/^\s+at /m);
    expect([code, stdout]).toEqual([1, '']);
  });

  test.each(['24.12.0', '24.21.0', '25.0.0', '26.1.0'])('%s is accepted', async (version) => {
    expect(await run(as(version))).toEqual({ code: 0, stdout: 'went on\n', stderr: '' });
  });

  test("the machine's own Node either works or is rejected with the next step", async () => {
    const node = existsSync(OWN_NODE) ? OWN_NODE : process.execPath;
    const { code, stdout, stderr } = await run([
      node,
      '--import',
      PRELOADED,
      join(ROOT, 'services/standalone/src/main.ts'),
      '--help',
    ]);
    expect({ code, said: code === 0 ? stdout : stderr }).toEqual({
      code: expect.any(Number),
      said: expect.stringMatching(code === 0 ? /^usage:/ : /^Vitrine needs Node 24\.12 or newer/),
    });
  });
});
