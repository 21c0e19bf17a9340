import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { runCaptured } from '@vitrine/command-line/testing/run-captured';
import { isFault } from '@vitrine/faults/fault';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { startTestGateway } from '../../testing/start-test-gateway.ts';
import { gatewayCommandLine } from '../registry.ts';

type Variables = Readonly<Record<string, string>>;
type Tree = readonly (readonly [string, number])[];

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let path: string;
beforeEach(async () => {
  folder = await temporaryFolder('config-files');
  path = join(folder.path, 'data', 'traces.db');
});
afterEach(async () => folder[Symbol.asyncDispose]());

/** Every file and folder below the test's, with its size. */
const everything = (): Tree =>
  readdirSync(folder.path, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .map((name) => [name, statSync(join(folder.path, name)).size]);

async function run(args: readonly string[], env: Variables) {
  try {
    return await runCaptured(gatewayCommandLine, args, { env: { SVC_STORAGE_PATH: path, ...env } });
  } catch (error) {
    if (isFault(error)) return { code: 1, stdout: '', stderr: error.say };
    throw error;
  }
}

/** The lines of `config validate` that name something, without those of the file system's own words. */
async function validate(env: Variables): Promise<string[]> {
  const before = everything();
  const { code, stdout, stderr } = await run(['config', 'validate'], env);
  expect(everything()).toEqual(before);
  expect(code).toBe(stderr === '' ? 0 : 1);
  expect(stdout).toBe(stderr === '' ? 'The configuration is valid.\n' : '');
  return stderr.split('\n').slice(1);
}

interface Diagnosis {
  readonly config_path: string;
  readonly config_source: string;
  readonly checks: readonly { readonly name: string; readonly status: string; readonly details: readonly string[] }[];
}
async function diagnose(env: Variables, ...args: readonly string[]) {
  const before = everything();
  const { stdout } = await run(['doctor', '--format', 'json', ...args], env);
  expect(everything()).toEqual(before);
  const { checks, ...rest } = JSON.parse(stdout) as Diagnosis;
  const of = (name: string) => checks.find((check) => check.name === name) ?? { status: 'missing', details: [] };
  return { ...rest, config: of('config'), storage: of('storage'), auth: of('auth_posture'), prices: of('prices') };
}

const PRICES = 'models: [{provider: openai, match: a, input_usd_per_mtok: 1, output_usd_per_mtok: 1}]';
const PRICE_KEY = '  prices.override_path (SVC_PRICES_OVERRIDE_PATH): ';
const STORAGE_KEY = '  storage.path (SVC_STORAGE_PATH): ';

describe('the price list', () => {
  test.each<[string, string | undefined, RegExp]>([
    ['that does not exist', undefined, /prices\.yaml: ENOENT: no such file/],
    ['that is not YAML', 'models: [', /prices\.yaml: The price override is invalid: /],
    [
      'with errors in two places',
      PRICES.replace('openai', 'aws').replace('mtok: 1', 'mtok: cheap'),
      /models\[0\]\.provider: must be "openai" or "anthropic"; models\[0\]\.input_usd_per_mtok: must be a number, not a string/,
    ],
  ])('%s is a fault of config validate and of doctor', async (_, text, what) => {
    const prices = join(folder.path, 'prices.yaml');
    if (text !== undefined) writeFileSync(prices, text);
    const [line = '', ...others] = await validate({ SVC_PRICES_OVERRIDE_PATH: prices });
    expect([line.startsWith(`${PRICE_KEY}${prices}: `), others]).toEqual([true, []]);
    expect(line).toMatch(what);
    const { config, storage } = await diagnose({ SVC_PRICES_OVERRIDE_PATH: prices });
    expect([config.status, config.details[0], storage.status]).toEqual(['fail', line.trim(), 'pass']);
  });

  test('that is valid causes no fault', async () => {
    const prices = join(folder.path, 'prices.yaml');
    writeFileSync(prices, PRICES);
    expect(await validate({ SVC_PRICES_OVERRIDE_PATH: prices })).toEqual([]);
    expect((await diagnose({ SVC_PRICES_OVERRIDE_PATH: prices })).config.status).toBe('pass');
  });

  test('needs a price for the models that stand in for unknown ones, which doctor shows', async () => {
    const standIn = { SVC_PRICES_UNKNOWN_MODEL_OPENAI: 'a' };
    const [line = '', ...others] = await validate(standIn);
    expect([line, others]).toEqual([
      expect.stringMatching(/^ {2}prices\.unknown_model\.openai \(.+\): must be a model with a price/),
      [],
    ]);
    const { config, prices: unusable } = await diagnose(standIn);
    expect([config.status, config.details[0], unusable.status]).toEqual(['fail', line.trim(), 'skip']);
    const prices = join(folder.path, 'prices.yaml');
    writeFileSync(prices, PRICES);
    expect(await validate({ ...standIn, SVC_PRICES_OVERRIDE_PATH: prices })).toEqual([]);
    expect((await diagnose({ ...standIn, SVC_PRICES_OVERRIDE_PATH: prices, SVC_LIMITS_UNKNOWN: 'allow' })).prices).toMatchObject({
      status: 'pass',
      details: ['limits.unknown: allow', 'openai: a', 'anthropic: claude-opus-4-6'],
    });
  });
});

describe('a place for the traces', () => {
  test('in a folder that exists, or can be created, causes no fault', async () => {
    expect(await validate({})).toEqual([]);
    mkdirSync(join(folder.path, 'data'));
    expect(await validate({})).toEqual([]);
    expect((await diagnose({})).storage.status).toBe('pass');
  });

  test('of a running gateway causes no fault', async () => {
    await using gateway = await startTestGateway({ SVC_AUTH_ENABLED: 'true' });
    const own = { SVC_STORAGE_PATH: join(gateway.folder, 'traces.db'), SVC_AUTH_ENABLED: 'true' };
    const before = readdirSync(gateway.folder);
    expect((await run(['config', 'validate'], own)).code).toBe(0);
    expect(readdirSync(gateway.folder)).toEqual(before);
  });

  test.each<[string, () => void, () => string, string]>([
    ['below a file', () => writeFileSync(join(folder.path, 'data'), 'x'), () => path, 'is not a folder'],
    [
      'below a folder that takes none',
      () => {},
      () => '/proc/nowhere/traces.db',
      'the folder /proc/nowhere cannot be created: ENOENT',
    ],
    ['in a folder that accepts no files', () => {}, () => '/proc/traces.db', 'no file can be written in /proc: ENOENT'],
    ['that is a folder', () => mkdirSync(path, { recursive: true }), () => path, 'traces.db: the file is a folder'],
    [
      'of another program',
      () => {
        mkdirSync(join(folder.path, 'data'));
        using database = new DatabaseSync(path);
        database.exec('CREATE TABLE users (a)');
      },
      () => path,
      'traces.db: the file contains the table "users" (user_version 0) and is not a Vitrine trace file',
    ],
    [
      'of a newer version',
      () => {
        mkdirSync(join(folder.path, 'data'));
        using database = new DatabaseSync(path);
        const tables = ['traces', 'payload_pages', 'totals'].map((name) => `CREATE TABLE ${name} (a);`).join('');
        database.exec(`${tables} PRAGMA user_version = 99`);
      },
      () => path,
      'traces.db: the file has schema 99, this version supports up to',
    ],
  ])('%s is a fault', async (_, make, at, what) => {
    make();
    const [line = '', ...others] = await validate({ SVC_STORAGE_PATH: at() });
    expect([line.startsWith(STORAGE_KEY), others]).toEqual([true, []]);
    expect(line).toContain(what);
    const { storage, config } = await diagnose({ SVC_STORAGE_PATH: at() });
    expect([config.status, storage.status]).toEqual(['pass', 'fail']);
    expect(storage.details.join('\n')).toContain(what.replace(/^traces.db: /, ''));
  });

  // Root may write everywhere, so the command runs as another user after the sources were loaded as root.
  const asOtherUser = (env: Variables, ...args: string[]) => {
    const sources = ['../registry.ts', '@vitrine/command-line/run-command'].map((name) => import.meta.resolve(name));
    const script = `
      const [{ gatewayCommandLine }, { runCommand }] = await Promise.all(${JSON.stringify(sources)}.map((source) => import(source)));
      if (process.getuid() === 0) process.setgroups([]), process.setgid(65534), process.setuid(65534);
      const context = { env: process.env, stdout: process.stdout, stderr: process.stderr };
      await runCommand(gatewayCommandLine, ${JSON.stringify(args)}, context).catch(({ say }) => process.stderr.write(say));`;
    const variables = { SVC_STORAGE_PATH: path, ...env };
    return spawnSync(process.execPath, ['--input-type=module', '-e', script], { env: variables, encoding: 'utf8', cwd: '/' });
  };

  test('that this user may not write to is a fault, which names every file', () => {
    mkdirSync(join(folder.path, 'data'), { mode: 0o755 });
    chmodSync(folder.path, 0o755);
    for (const name of ['traces.db', 'traces.db-wal', 'traces.db.lock', 'gateway-keys.db'])
      writeFileSync(join(folder.path, 'data', name), '', { mode: 0o444 });
    writeFileSync(join(folder.path, 'data', 'gateway-keys.pepper'), `1:${'p'.repeat(32)}`, { mode: 0o400 });
    const { stderr } = asOtherUser({ SVC_AUTH_ENABLED: 'true' }, 'config', 'validate');
    const lines = stderr.split('\n').slice(1);
    expect(lines.filter((line) => !line.startsWith(STORAGE_KEY))).toEqual([]);
    for (const what of [
      `no file can be written in ${join(folder.path, 'data')}: EACCES`,
      'traces.db cannot be read and written: EACCES',
      'traces.db-wal cannot be read and written: EACCES',
      'traces.db.lock cannot be read and written: EACCES',
      'gateway-keys.db cannot be read and written: EACCES',
      'gateway-keys.pepper: the pepper of gateway keys cannot be used: EACCES',
    ])
      expect(lines.filter((line) => line.includes(`${what.startsWith('no') ? '' : '/'}${what}`))).toHaveLength(1);
    expect(lines).toHaveLength(6);
    expect(asOtherUser({}, 'doctor').stdout).toMatch(/^fail {2}storage: [\s\S]* {8}no file can be written in .*EACCES/m);
  });
});

describe('the gateway keys beside the traces', () => {
  const on = { SVC_AUTH_ENABLED: 'true' };
  beforeEach(() => mkdirSync(join(folder.path, 'data')));
  const beside = (name: string) => join(folder.path, 'data', name);

  test.each<[string, string, () => void, string]>([
    [
      'a database of another program',
      'gateway-keys.db',
      () => {
        using database = new DatabaseSync(beside('gateway-keys.db'));
        database.exec('CREATE TABLE users (a)');
      },
      'the file contains the table "users" (user_version 0) and is not a Vitrine key database',
    ],
    [
      'a file that is not a database',
      'gateway-keys.db',
      () => writeFileSync(beside('gateway-keys.db'), 'notes'),
      'the file is text and not an SQLite database',
    ],
    [
      'a file that is not a pepper',
      'gateway-keys.pepper',
      () => writeFileSync(beside('gateway-keys.pepper'), 'my secret notes'),
      'line 1 must be VERSION:SECRET',
    ],
  ])('%s is a fault with authentication only', async (_, name, make, what) => {
    make();
    expect(await validate({})).toEqual([]);
    const [line = '', ...others] = await validate(on);
    expect([line.startsWith(`${STORAGE_KEY}${beside(name)}: ${what}`), others]).toEqual([true, []]);
    expect(line).not.toContain('notes');
    expect(await validate({ ...on, SVC_AUTH_STORE: 'file' })).toEqual([expect.stringContaining('auth.keys')]);
    const { auth } = await diagnose(on);
    expect(auth.status).toBe('fail');
    if (name.endsWith('.db')) expect(auth.details.join('\n')).toContain(what);
  });
});

test('faults of the configuration and of its files are reported all at once', async () => {
  writeFileSync(join(folder.path, 'data'), 'x');
  const env = {
    SVC_PRICES_OVERRIDE_PATH: join(folder.path, 'none.yaml'),
    SVC_SERVER_PORT: '9464',
    SVC_OBSERVABILITY_OTEL_PROMETHEUS_PORT: '9464',
    SVC_LOG_LEVEL: 'loud',
    SVC_NOTHING: '1',
  };
  const lines = await validate(env);
  const named = lines.map((line) => /^ {2}([^ :]+)/.exec(line)?.[1]);
  expect(named).toEqual([
    'SVC_NOTHING',
    'log.level',
    'observability.otel.prometheus_port',
    'prices.override_path',
    'storage.path',
  ]);
  const { config } = await diagnose(env);
  expect([config.status, config.details]).toEqual(['fail', lines.map((line) => line.trim())]);
  const { stdout } = await run(['config', 'validate', '--format', 'json'], env);
  const { valid, faults } = JSON.parse(stdout) as { valid: boolean; faults: { path: string; variable?: string }[] };
  expect([valid, ...faults.map((fault) => [fault.path, fault.variable])]).toEqual([
    false,
    ['SVC_NOTHING', undefined],
    ['log.level', 'SVC_LOG_LEVEL'],
    ['observability.otel.prometheus_port', 'SVC_OBSERVABILITY_OTEL_PROMETHEUS_PORT'],
    ['prices.override_path', 'SVC_PRICES_OVERRIDE_PATH'],
    ['storage.path', 'SVC_STORAGE_PATH'],
  ]);
});

describe('doctor reports the configuration file', () => {
  test('and its source', async () => {
    const [first, second] = ['first.yaml', 'second.yaml'].map((name) => join(folder.path, name));
    for (const file of [first, second]) writeFileSync(file ?? '', '{}');
    const { config_path: named, config_source: by } = await diagnose({ SVC_CONFIG: second ?? '' }, '--config', first ?? '');
    expect([named, by]).toEqual([first, '--config']);
    const { config_path: other, config_source: variable } = await diagnose({ SVC_CONFIG: second ?? '' });
    expect([other, variable]).toEqual([second, 'SVC_CONFIG']);
    const { stdout } = await run(['doctor'], { SVC_CONFIG: second ?? '' });
    expect(stdout).toMatch(new RegExp(`^Configuration file: ${second} \\(SVC_CONFIG\\)\n`));
    const { config_path: none, config_source: source } = await diagnose({});
    expect([none, source]).toEqual(['', 'none']);
    expect((await run(['doctor'], {})).stdout).toMatch(
      /^Configuration file: none: there is no --config, no SVC_CONFIG and no vitrine\.yaml here\n/,
    );
  });

  test('also when it cannot be read', async () => {
    const { config_path: named, config } = await diagnose({}, '--config', join(folder.path, 'none.yaml'));
    expect([named, config.status]).toEqual([join(folder.path, 'none.yaml'), 'fail']);
  });
});
