import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { npmScript } from '@vitrine/testkit/npm-script';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { commandsIn, paste } from './printed-commands.ts';
import { describeWithPrograms } from './programs.ts';
import { freePort, startProcess, type RunningProcess } from './running-process.ts';

const SLOW_MS = 120_000;
const KEY = /svc_live_[A-Za-z0-9_-]{43}/;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder('stores');
  // If started by root, the database runs as another user.
  chmodSync(folder.path, 0o755);
});
afterAll(async () => folder[Symbol.asyncDispose]());

/** `npm start` without npm around it, on free ports unless `variables` name others. */
async function start(variables: Readonly<Record<string, string>> = {}): Promise<RunningProcess> {
  const ports = { SVC_SERVER_PORT: String(await freePort()), STORE_API_SERVER_PORT: String(await freePort()) };
  const env = { VITRINE_DATA_DIR: join(folder.path, 'data'), ...ports, ...variables };
  return startProcess({ command: npmScript('start'), cwd: folder.path, env });
}

/** Waits for the last printed line. */
async function storesOf(running: RunningProcess): Promise<string> {
  const ends = () => {
    if (!running.isRunning) throw new Error(`it ended: ${running.stdout}\n${running.stderr}`);
    return /Look a store up[^]*\n\n +curl [^\n]+\n/.exec(running.stdout)?.[0];
  };
  return waitUntil(ends, { what: 'the store API', timeoutMs: SLOW_MS });
}

const lookUp = (printed: string, key: string) => {
  const [command = ''] = commandsIn(printed, 'curl').filter((line) => line.includes('/v1/stores/'));
  return paste(command.replace('"Authorization: Bearer $STORE_API_KEY"', `"Authorization: Bearer ${key}"`));
};

describeWithPrograms(['curl'], 'what npm start prints of the store API', () => {
  test('npm start serves the store API on its own database: the printed line works, also after a restart and a kill', async () => {
    let key = '';
    const first = await start();
    {
      await using running = first;
      const printed = await storesOf(running);
      [key = ''] = KEY.exec(running.stdout) ?? [];
      expect(JSON.parse(await lookUp(printed, key))).toMatchObject({ match: 'matched', store: { domain: 'example.com' } });
      // All URLs have its actual port.
      const own = /^The store API listens on (\S+)$/m.exec(running.stdout)?.[1] ?? '';
      const { endpoints } = JSON.parse(await paste(`curl -s ${own}/v1`)) as { endpoints: Record<string, string> };
      expect(Object.values(endpoints)).toEqual(Object.values(endpoints).map(() => expect.stringContaining(`${own}/`)));
      running.signal('SIGINT', 'group');
      expect(await running.end(SLOW_MS)).toEqual({ code: 0, signal: null });
    }
    {
      await using running = await start();
      const printed = await storesOf(running);
      // The key is shown once and keeps working.
      expect(running.stdout).not.toMatch(KEY);
      expect(JSON.parse(await lookUp(printed, key))).toMatchObject({ match: 'matched' });
      running.signal('SIGKILL');
      await running.end(SLOW_MS);
    }
    await using running = await start();
    expect(JSON.parse(await lookUp(await storesOf(running), key))).toMatchObject({ match: 'matched' });
    const config = join(folder.path, 'data', 'stores', 'store-api.yaml');
    await using list = startProcess({
      command: [...npmScript('store-api'), 'key', 'list', '--config', config, '--format', 'json'],
    });
    await list.end(SLOW_MS);
    expect(JSON.parse(list.stdout)).toMatchObject({ items: [{ label: 'demo', prefix: key.slice(0, 13) }] });
    expect(readFileSync(config, 'utf8')).not.toContain(key);

    // The folder is in use.
    await using second = await start();
    expect(await second.end(SLOW_MS)).toMatchObject({ code: 1 });
    expect(second.stderr).toMatch(/is in use by another process\nSet VITRINE_DATA_DIR/);
  });
});

test('a busy port of the store API is an error that names its variable', async () => {
  const server: Server = createServer().listen(0, '0.0.0.0');
  await waitUntil(() => server.listening, { what: 'a listener' });
  try {
    const { port } = server.address() as AddressInfo;
    await using own = await temporaryFolder('busy');
    await using running = await start({ STORE_API_SERVER_PORT: String(port), VITRINE_DATA_DIR: join(own.path, 'data') });
    expect(await running.end(SLOW_MS)).toMatchObject({ code: 1 });
    expect(running.stderr).toContain(`server.port (STORE_API_SERVER_PORT): 0.0.0.0:${port} is already in use`);
  } finally {
    server.close();
  }
});

// If started by root, the database runs as another user without access to the folders of root.
const isRoot = userInfo().uid === 0;
const modeOf = (path: string) => (statSync(path).mode & 0o7777).toString(8);

test('folders above the data may be closed to others, and the mode of a shared data folder is kept', async () => {
  await using own = await temporaryFolder('closed');
  expect(modeOf(own.path)).toBe('700');
  const shared = join(own.path, 'shared');
  mkdirSync(shared);
  chmodSync(shared, 0o1777);
  await using running = await start({ VITRINE_DATA_DIR: shared });
  await storesOf(running);
  expect(modeOf(own.path)).toBe('700');
  expect(modeOf(shared)).toBe('1777');
});

test('if folders are closed and the capability to traverse them is missing, the error names the first one', async () => {
  if (!isRoot) return;
  await using own = await temporaryFolder('closed');
  const programs = join(folder.path, 'programs');
  mkdirSync(programs, { recursive: true });
  writeFileSync(join(programs, 'setpriv'), '#!/bin/sh\nexit 127\n', { mode: 0o755 });
  const PATH = `${programs}:${process.env['PATH'] ?? ''}`;
  await using running = await start({ VITRINE_DATA_DIR: join(own.path, 'data'), PATH });
  expect(await running.end(SLOW_MS)).toMatchObject({ code: 1 });
  expect(running.stderr).toMatch(
    /does not run: it runs as the user \w+, because it cannot run as root, and \w+ cannot reach \S+\nSet VITRINE_DATA_DIR/,
  );
  expect(running.stderr).toContain(`cannot reach ${own.path}\n`);
});

test('a start after a kill during the creation of secrets creates them again', async () => {
  await using own = await temporaryFolder('halves');
  const stores = join(own.path, 'data', 'stores');
  mkdirSync(stores, { recursive: true, mode: 0o700 });
  for (const name of ['postgres-password', 'postgres-password.new', 'graphql-token']) writeFileSync(join(stores, name), '');
  await using running = await start({ VITRINE_DATA_DIR: join(own.path, 'data') });
  await storesOf(running);
  expect(readFileSync(join(stores, 'postgres-password'), 'utf8')).toHaveLength(43);
});
