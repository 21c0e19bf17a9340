import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startMockOpenai } from '@vitrine/testkit/mock-openai';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { chmod, copyFile, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GATEWAY, startGateway, type RunningGateway } from './running-gateway.ts';
import { startProcess } from './running-process.ts';

// Traces, keys and bundles contain private data, so only their owner may read them, for any umask.

/** The umask allows everyone to read and write files created by the gateway. */
const WITHOUT_UMASK = ['sh', '-c', 'umask 0; exec "$@"', 'sh'] as const;

let opened: AsyncDisposableStack;
let upstream: string;
let folder: string;
let gateway: RunningGateway;

beforeAll(async () => {
  opened = new AsyncDisposableStack();
  folder = opened.use(await temporaryFolder('modes')).path;
  await chmod(folder, 0o755);
  upstream = opened.use(await startMockOpenai()).url;
  gateway = opened.use(await start('fresh/data/traces.db'));
});
afterAll(async () => opened.disposeAsync());

function start(path: string): Promise<RunningGateway> {
  const variables = {
    SVC_STORAGE_PATH: join(folder, path),
    SVC_AUTH_ENABLED: 'false',
    SVC_TRACING_CAPTURE_BODIES: 'true',
  };
  return startGateway({ folder, upstream, variables, under: WITHOUT_UMASK });
}

async function run(words: string, path: string): Promise<void> {
  await using running = startProcess({
    command: [...WITHOUT_UMASK, ...GATEWAY, ...words.split(' ')],
    cwd: folder,
    env: { SVC_STORAGE_PATH: join(folder, path) },
  });
  expect(await running.end()).toEqual({ code: 0, signal: null });
}

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

/** Files below a folder and their modes, the folder itself as `.`. */
async function modesBelow(path: string): Promise<Record<string, string>> {
  const names = await readdir(path, { recursive: true });
  const modes = await Promise.all(['.', ...names].map(async (name) => [name, await modeOf(join(path, name))] as const));
  return Object.fromEntries(modes);
}

async function useIt(): Promise<void> {
  const before = (await gateway.health()).trace_count;
  await (await fetch(`${gateway.url}/openai/v1/chat/completions`, { method: 'POST', body: '{"model":"m"}' })).text();
  await waitUntil(async () => (await gateway.health()).trace_count > before, { what: 'the trace' });
  // This opens the keys.
  expect((await fetch(`${gateway.url}/api/gateway-keys`)).status).toBe(200);
}

describe('only the owner may read', () => {
  test('files created by the gateway and its commands, and their folders', async () => {
    await useIt();
    await run('keys create --org o --workspace w --name n', 'fresh/data/traces.db');
    await run('debug last --bundle-out fresh/bundles/one', 'fresh/data/traces.db');
    expect(await modesBelow(join(folder, 'fresh'))).toEqual({
      '.': '700',
      bundles: '700',
      'bundles/one': '700',
      'bundles/one/debug-chain.json': '600',
      'bundles/one/manifest.json': '600',
      data: '700',
      'data/gateway-keys.db': '600',
      'data/gateway-keys.db-shm': '600',
      'data/gateway-keys.db-wal': '600',
      'data/gateway-keys.pepper': '600',
      'data/traces.db': '600',
      'data/traces.db-shm': '600',
      'data/traces.db-wal': '600',
      'data/traces.db.lock': '600',
      'data/traces.db.lock-journal': '600',
    });
  });

  test('existing files that everyone could read; the folder is unchanged', async () => {
    const old = join(folder, 'old');
    await mkdir(old);
    await chmod(old, 0o755);
    for (const name of await readdir(join(folder, 'fresh/data'))) {
      await copyFile(join(folder, 'fresh/data', name), join(old, name));
      await chmod(join(old, name), 0o644);
    }
    await using again = await start('old/traces.db');
    await fetch(`${again.url}/api/gateway-keys`);
    const modes = await modesBelow(old);
    expect(modes['.']).toBe('755');
    expect(new Set(Object.entries(modes).map(([name, mode]) => (name === '.' ? '600' : mode)))).toEqual(new Set(['600']));
    expect(Object.keys(modes).length).toBeGreaterThan(8);
  });

  test('deliberate group permissions are kept', async () => {
    const shared = join(folder, 'shared');
    await mkdir(shared);
    await using first = await start('shared/traces.db');
    await first[Symbol.asyncDispose]();
    await chmod(join(shared, 'traces.db'), 0o660);
    await using _again = await start('shared/traces.db');
    expect(await modeOf(join(shared, 'traces.db'))).toBe('660');
  });
});

test('a foreign file keeps its mode', async () => {
  const foreign = join(folder, 'foreign.db');
  await writeFile(foreign, 'not a database'.repeat(100));
  await chmod(foreign, 0o644);
  await expect(start('foreign.db')).rejects.toThrow('not an SQLite database');
  expect(await modeOf(foreign)).toBe('644');
});

test('existing folders keep their modes', async () => {
  expect(await modeOf(folder)).toBe('755');
});
