import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { GATEWAY, STANDALONE } from './running-gateway.ts';
import { freePort, ROOT, startProcess, type RunningProcess } from './running-process.ts';

/** Loading the sources takes a second of it on a busy machine. */
const REFUSES_WITHIN_MS = 8_000;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder('configuration');
});
afterAll(async () => folder[Symbol.asyncDispose]());

/** An occupied port: a process that tries to listen on it reports an error. */
async function takenPort(): Promise<AsyncDisposable & { port: number }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const closed = once(server, 'close');
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.close();
      await closed;
    },
  };
}

/** Runs a command that is expected to refuse to start, in an empty folder, with its port occupied. */
async function refusal(
  command: typeof GATEWAY,
  { args = [], env = {}, yaml }: { args?: readonly string[]; env?: Record<string, string>; yaml?: string },
) {
  const cwd = join(folder.path, crypto.randomUUID());
  await mkdir(cwd);
  if (yaml !== undefined) await writeFile(join(cwd, 'vitrine.yaml'), yaml);
  await using taken = await takenPort();
  await using running = startProcess({
    command: [...command, ...args],
    cwd,
    env: { SVC_SERVER_PORT: String(taken.port), VITRINE_STORES_ENABLED: 'false', ...env },
  });
  const { code } = await running.end(REFUSES_WITHIN_MS);
  const left = (await readdir(cwd)).filter((name) => name !== 'vitrine.yaml');
  return { code, said: running.stderr, stdout: running.stdout, left };
}

const LOOKS_LIKE_A_STACK = /^\s+at .+:\d+/m;

describe('a configuration with faults', () => {
  const yaml = `
server:
  port: 70000
  hots: 0.0.0.0
providers:
  openai: { upstream: "ftp://example.com" }
  anthropic: { prefix: claude }
tracing:
  capture_bodies: maybe
extra: 1
`;
  const env = {
    SVC_SERVER_PORT: '',
    SVC_QUEUE_CAPACITY: 'many',
    SVC_SERVER_PROT: '8080',
    SVC_PII_MODE: 'redact_everything',
    SVC_TRACING_RETENTION_DAYS: '0',
  };
  const paths = [
    'server.port (SVC_SERVER_PORT)',
    'server.hots',
    'providers.openai.upstream (SVC_PROVIDERS_OPENAI_UPSTREAM)',
    'providers.anthropic.prefix (SVC_PROVIDERS_ANTHROPIC_PREFIX)',
    'tracing.capture_bodies (SVC_TRACING_CAPTURE_BODIES)',
    'tracing.retention_days (SVC_TRACING_RETENTION_DAYS)',
    'queue.capacity (SVC_QUEUE_CAPACITY)',
    'pii.mode (SVC_PII_MODE)',
    'SVC_SERVER_PROT',
    'extra',
  ];

  test.each([
    ['the gateway', GATEWAY],
    ['npm start', STANDALONE],
  ])('%s lists all at once with their paths, and does nothing else', async (_name, command) => {
    const { code, said, left } = await refusal(command, { yaml, env });
    const named = said.split('\n').flatMap((line) => /^ {2}([^:]+): ./.exec(line)?.[1] ?? []);
    expect(named.toSorted()).toEqual(paths.toSorted());
    expect(said).toContain(`${paths.length} faults`);
    expect(said).not.toMatch(LOOKS_LIKE_A_STACK);
    expect(code).toBe(1);
    expect(left).toEqual([]);
  });

  test('opens no socket: an occupied port is not detected', async () => {
    const { code, said } = await refusal(GATEWAY, { env: { SVC_PII_MODE: 'nonsense' } });
    expect(said).toContain('pii.mode');
    expect(said).not.toContain('in use');
    expect(code).toBe(1);
  });

  test('npm start names those of VITRINE_ together with those of SVC_', async () => {
    const { code, said } = await refusal(STANDALONE, { env: { VITRINE_DATA_DRI: './x', SVC_PII_MODE: 'nonsense' } });
    expect(said).toContain('VITRINE_DATA_DRI');
    expect(said).toContain('pii.mode');
    expect(code).toBe(1);
  });

  test('npm start ignores variables of commands, but reports their typos', async () => {
    const { said } = await refusal(STANDALONE, { env: { VITRINE_GATEWAY_KEY: 'sgk_0123456789' } });
    expect(said).toContain('already in use');
    const typo = await refusal(STANDALONE, { env: { VITRINE_GATEWAY_KEYS: 'sgk_0123456789' } });
    expect(typo.said).toContain('VITRINE_GATEWAY_KEYS: unknown variable; did you mean VITRINE_GATEWAY_KEY?');
    expect(typo.code).toBe(1);
  });

  test.each([
    ['the gateway', GATEWAY],
    ['npm start', STANDALONE],
  ])('%s reports faults of one part and of two at once', async (_name, command) => {
    const text = 'auth: { keys: [{ id: a, token: token-0123456789-0123456789, plan: gold }] }\nlog: { level: loud }\n';
    const { code, said } = await refusal(command, { yaml: text, env: { SVC_SERVER_PORT: 'x' } });
    expect(said).toContain('has 3 faults');
    expect(said).toContain('unknown plan "gold"');
    expect(code).toBe(1);
  });

  test.each([
    ['broken YAML', 'server: [\n', 'vitrine.yaml'],
    ['a list', '- a\n', 'vitrine.yaml'],
    ['two documents', 'server: { port: 1 }\n---\nserver: { port: 2 }\n', 'vitrine.yaml'],
    ['a key given twice', 'server: { port: 1 }\nserver: { port: 2 }\n', 'vitrine.yaml'],
  ])('%s is a fault that names the file', async (_name, text, named) => {
    const { code, said, left } = await refusal(GATEWAY, { yaml: text });
    expect(said).toContain(named);
    expect(said).not.toMatch(LOOKS_LIKE_A_STACK);
    expect([code, left]).toEqual([1, []]);
  });
});

describe.each([
  ['the gateway', GATEWAY, 'gateway: '],
  ['npm start', STANDALONE, 'vitrine: '],
])('%s', (_name, command, speaker) => {
  test.each([
    ['--config names a file that is not there', ['--config', 'nowhere.yaml'], {}, 'nowhere.yaml'],
    ['--config names a folder', ['--config', ROOT], {}, ROOT],
    ['SVC_CONFIG names a file that is not there', [], { SVC_CONFIG: 'gone.yaml' }, 'gone.yaml'],
    ['a price override that is not there', [], { SVC_PRICES_OVERRIDE_PATH: 'none.yaml' }, 'SVC_PRICES_OVERRIDE_PATH'],
    ['a busy port', [], {}, 'SVC_SERVER_PORT'],
    ['a host that this machine does not have', [], { SVC_SERVER_HOST: '192.0.2.1' }, 'SVC_SERVER_HOST'],
  ])('%s: one clear message, and the end with 1', async (_case, args, env: Record<string, string>, named) => {
    const { code, said } = await refusal(command, { args, env });
    expect(said).toContain(named);
    expect(said.startsWith(speaker)).toBe(true);
    expect(said).not.toMatch(LOOKS_LIKE_A_STACK);
    expect(said).not.toContain('usage:');
    expect(code).toBe(1);
  });
});

describe('a data folder', () => {
  const serve = async (dataDir: string): Promise<{ running: RunningProcess; url: string }> => {
    const port = await freePort();
    const env = { SVC_SERVER_PORT: String(port), VITRINE_DATA_DIR: dataDir, VITRINE_STORES_ENABLED: 'false' };
    return { running: startProcess({ command: STANDALONE, cwd: folder.path, env }), url: `http://127.0.0.1:${port}/api/health` };
  };

  test('that is in use is an error that names VITRINE_DATA_DIR; the first keeps serving; it is free again afterwards', async () => {
    const dataDir = join(folder.path, 'in-use');
    const { running: first, url } = await serve(dataDir);
    await using _first = first;
    await first.untilServing(url);

    const { running: second } = await serve(dataDir);
    await using _second = second;
    expect(await second.end()).toEqual({ code: 1, signal: null });
    expect(second.stderr).toContain('VITRINE_DATA_DIR');
    expect(second.stderr).toContain('in use');
    expect(second.stderr).not.toMatch(LOOKS_LIKE_A_STACK);
    await first.untilServing(url);

    first.signal('SIGKILL');
    await first.end();
    const { running: third, url: thirdUrl } = await serve(dataDir);
    await using _third = third;
    await third.untilServing(thirdUrl);
  });

  test('is named as SVC_STORAGE_PATH when the gateway runs alone', async () => {
    const dataDir = join(folder.path, 'in-use-by-gateway');
    const { running: first, url } = await serve(dataDir);
    await using _first = first;
    await first.untilServing(url);
    const { code, said } = await refusal(GATEWAY, { env: { SVC_STORAGE_PATH: join(dataDir, 'traces.db') } });
    expect(said).toContain('SVC_STORAGE_PATH');
    expect(code).toBe(1);
  });

  test.each([
    ['stands below a file', 'VITRINE_DATA_DIR', STANDALONE, { VITRINE_DATA_DIR: `${import.meta.filename}/data` }],
    ['stands below a file', 'SVC_STORAGE_PATH', GATEWAY, { SVC_STORAGE_PATH: `${import.meta.filename}/data/traces.db` }],
    // Where the system reports "no such file" for making a folder, Node's own recursive mkdir tries for ever.
    ['no folder can be made in', 'VITRINE_DATA_DIR', STANDALONE, { VITRINE_DATA_DIR: '/proc/nowhere' }],
  ])('that %s is an error that names %s', async (_case, named, command, env: Record<string, string>) => {
    const { code, said } = await refusal(command, { env });
    expect(said).toContain(named);
    expect(said).not.toMatch(LOOKS_LIKE_A_STACK);
    expect(code).toBe(1);
  });

  test('with a database of another program is an error that names it, and the database is not changed', async () => {
    const dataDir = join(folder.path, 'foreign');
    await mkdir(dataDir);
    const file = join(dataDir, 'traces.db');
    {
      using database = new DatabaseSync(file);
      database.exec('CREATE TABLE users (a); CREATE TABLE orders (b); PRAGMA user_version = 7');
    }
    const before = await readFile(file);
    for (const [command, env] of [
      [STANDALONE, { VITRINE_DATA_DIR: dataDir }],
      [GATEWAY, { SVC_STORAGE_PATH: file }],
    ] as const) {
      const { code, said } = await refusal(command, { env });
      expect(said).toContain('contains the tables "orders", "users" (user_version 7) and is not a Vitrine trace file');
      expect(said).toContain(Object.keys(env)[0]);
      expect(code).toBe(1);
    }
    expect(await readdir(dataDir)).toEqual(['traces.db']);
    expect(await readFile(file)).toEqual(before);
  });

  test('with a file that is not a database is an error that names VITRINE_DATA_DIR, and the file is not changed', async () => {
    const dataDir = join(folder.path, 'no-database');
    await mkdir(dataDir);
    await writeFile(join(dataDir, 'traces.db'), 'these are my notes, not a database. '.repeat(200));
    const { code, said } = await refusal(STANDALONE, { env: { VITRINE_DATA_DIR: dataDir } });
    expect(said).toContain('VITRINE_DATA_DIR');
    expect(said).not.toMatch(LOOKS_LIKE_A_STACK);
    expect(code).toBe(1);
    expect(await readdir(dataDir)).toContain('traces.db');
  });
});
