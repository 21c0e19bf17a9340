import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { OngoingaiStore } from '@vitrine/testkit/ongoingai-store';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { GATEWAY, STANDALONE, startGateway } from './running-gateway.ts';
import { freePort, ROOT, startProcess } from './running-process.ts';

// The migration from ongoingai/gateway for a user.

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder('old-gateway');
});
afterAll(async () => folder[Symbol.asyncDispose]());

async function newFolder(files: Readonly<Record<string, string>> = {}): Promise<string> {
  const cwd = join(folder.path, crypto.randomUUID());
  await mkdir(cwd);
  for (const [name, text] of Object.entries(files)) await writeFile(join(cwd, name), text);
  return cwd;
}

async function run(line: string, cwd: string, env: Readonly<Record<string, string>> = {}) {
  await using running = startProcess({ command: [...GATEWAY, ...line.split(' ')], cwd, env });
  const { code } = await running.end();
  return { code, stdout: running.stdout, stderr: running.stderr };
}

const OLD_VARIABLES = { ONGOINGAI_PORT: '9090', ONGOINGAI_STORAGE_DSN: 'postgres://u:hunter2@db/x' };
const WARNING = 'settings of ongoingai/gateway are not read';

describe("the old gateway's variables and file", () => {
  test('serve and npm start log all of them once with their successors, and start', async () => {
    for (const command of [GATEWAY, STANDALONE]) {
      const port = await freePort();
      const cwd = await newFolder({ 'ongoingai.yaml': 'server: { port: 9090 }' });
      const env = { SVC_SERVER_PORT: String(port), VITRINE_STORES_ENABLED: 'false', ...OLD_VARIABLES };
      await using running = startProcess({ command, cwd, env });
      await running.untilServing(`http://127.0.0.1:${port}/api/health`);
      running.signal('SIGTERM');
      expect((await running.end()).code).toBe(0);
      const said = running.stdout + running.stderr;
      const lines = said.split('\n').filter((line) => line.includes(WARNING));
      expect(lines).toHaveLength(1);
      expect(JSON.parse(lines[0] ?? '')).toMatchObject({
        level: 'warn',
        settings: {
          ONGOINGAI_PORT: 'SVC_SERVER_PORT',
          ONGOINGAI_STORAGE_DSN: expect.stringContaining('SVC_STORAGE_DSN'),
          './ongoingai.yaml': expect.stringContaining('vitrine.yaml'),
        },
      });
      expect(said).not.toContain('hunter2');
    }
  });

  test('without any no line is logged', async () => {
    const port = await freePort();
    const cwd = await newFolder({ 'vitrine.yaml': '', 'ongoingai.yaml': '' });
    await using running = startProcess({ command: GATEWAY, cwd, env: { SVC_SERVER_PORT: String(port) } });
    await running.untilServing(`http://127.0.0.1:${port}/api/health`);
    expect(running.stdout).not.toContain(WARNING);
  });

  test('doctor and config validate warn of each, doctor also where the configuration is not valid', async () => {
    const cwd = await newFolder({ 'ongoingai.yaml': '' });
    const sentence = 'ONGOINGAI_PORT is a setting of ongoingai/gateway and is not read; use instead: SVC_SERVER_PORT';
    const doctor = await run('doctor --format json', cwd, OLD_VARIABLES);
    const { checks } = JSON.parse(doctor.stdout) as { checks: { name: string; status: string; details: string[] }[] };
    expect(doctor.code).toBe(0);
    expect(checks.find(({ name }) => name === 'config')).toMatchObject({
      status: 'warn',
      details: expect.arrayContaining([sentence, expect.stringMatching(/^\.\/ongoingai\.yaml is a setting/)]),
    });
    expect((await run('config validate', cwd, OLD_VARIABLES)).stdout).toContain(`Warning: ${sentence}.\n`);
    const invalid = await run('doctor', cwd, { ...OLD_VARIABLES, SVC_SERVER_PORT: 'many' });
    expect([invalid.code, invalid.stdout]).toEqual([1, expect.stringContaining(sentence)]);
    expect(doctor.stdout + invalid.stdout).not.toContain('hunter2');
  });

  test('an unknown key of its file is reported with its successor', async () => {
    const cwd = await newFolder({ 'ongoingai.yaml': 'pii: { stages: { request_body: true } }' });
    const { code, stderr } = await run('config validate --config ongoingai.yaml', cwd);
    expect(code).toBe(1);
    expect(stderr).toContain('pii.stages: unknown key: it was a key of ongoingai/gateway; remove it');
  });
});

test('its trace file as storage.path is refused by every program that would open it, with the next step, and is not changed', async () => {
  const cwd = await newFolder();
  using old = new OngoingaiStore(join(cwd, 'ongoingai.db'));
  old.add([{ id: 'a'.repeat(32), completedAt: Date.UTC(2026, 1, 12) }]);
  const env = { SVC_STORAGE_PATH: './ongoingai.db', SVC_SERVER_PORT: '0' };
  const text =
    'contains the traces of ongoingai/gateway: configure another file, and import them with gateway import --from ./ongoingai.db';
  for (const line of ['serve', 'report', 'debug', 'doctor']) {
    const { code, stdout, stderr } = await run(line, cwd, env);
    expect([line, code, stdout + stderr]).toEqual([line, 1, expect.stringContaining(text)]);
  }
  expect(old.count).toBe(1);
});

describe('gateway wrap', () => {
  const SHOW = 'console.log(JSON.stringify(process.env))';
  const variablesOf = async (options: string[], env: Readonly<Record<string, string>> = {}) => {
    const cwd = await newFolder();
    const command = [...GATEWAY, 'wrap', ...options, '--', process.execPath, '-e', SHOW] as const;
    await using running = startProcess({ command, cwd, env });
    expect(await running.end()).toEqual({ code: 0, signal: null });
    return JSON.parse(running.stdout) as Record<string, string | undefined>;
  };
  const end = async (args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    await using running = startProcess({ command: [...GATEWAY, ...args], cwd: await newFolder(), env });
    return { ...(await running.end()), stdout: running.stdout, stderr: running.stderr };
  };

  test('sets the base URLs and keeps every other variable', async () => {
    const variables = await variablesOf([], { SVC_SERVER_PORT: '9123', OPENAI_BASE_URL: 'http://elsewhere', OTHER: 'kept' });
    expect(variables).toMatchObject({
      OPENAI_BASE_URL: 'http://127.0.0.1:9123/openai/v1',
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:9123/anthropic',
      OTHER: 'kept',
    });
    expect(variables['OPENAI_CUSTOM_HEADERS']).toBeUndefined();
  });

  test('--base-url and the prefixes of the configuration count, and a gateway key goes into the header of the configuration', async () => {
    const env = {
      SVC_PROVIDERS_OPENAI_PREFIX: '/oai',
      SVC_AUTH_HEADER: 'X-Team-Key',
      VITRINE_GATEWAY_KEY: 'sgk_team',
      OPENAI_CUSTOM_HEADERS: 'X-A: 1',
    };
    expect(await variablesOf(['--base-url', 'https://gw.example.com/'], env)).toMatchObject({
      OPENAI_BASE_URL: 'https://gw.example.com/oai/v1',
      ANTHROPIC_BASE_URL: 'https://gw.example.com/anthropic',
      OPENAI_CUSTOM_HEADERS: 'X-A: 1\nX-Team-Key: sgk_team',
      ANTHROPIC_CUSTOM_HEADERS: 'X-Team-Key: sgk_team',
    });
  });

  test("has the program's exit code, output and errors, and passes its options through", async () => {
    const script = 'echo "$@"; echo failure >&2; exit 42';
    expect(await end(['wrap', '--', 'sh', '-c', script, 'sh', '--help', '--config', '--'])).toEqual({
      code: 42,
      signal: null,
      stdout: '--help --config --\n',
      stderr: 'failure\n',
    });
  });

  test('ends with 127 when there is no such program, and with 2 and its help without one', async () => {
    const missing = await end(['wrap', '--', 'no-such-program']);
    expect([missing.code, missing.stdout]).toEqual([127, '']);
    expect(missing.stderr).toBe('gateway: no-such-program cannot be run: spawn no-such-program ENOENT\n');
    for (const args of [
      ['wrap'],
      ['wrap', '--'],
      ['wrap', 'python', 'app.py'],
      ['wrap', '--base-url', 'nowhere', '--', 'true'],
    ]) {
      const { code, stdout, stderr } = await end(args);
      expect([args, code, stdout, stderr]).toEqual([args, 2, '', expect.stringContaining('usage: gateway wrap ')]);
    }
    const anyPort = await end(['wrap', '--', 'true'], { SVC_SERVER_PORT: '0' });
    expect([anyPort.code, anyPort.stderr]).toEqual([2, expect.stringContaining('--base-url is needed')]);
  });

  test('forwards SIGTERM and ends like the program', async () => {
    const script = "trap 'echo got it; exit 9' TERM; echo ready; while :; do sleep 0.05; done";
    await using running = startProcess({ command: [...GATEWAY, 'wrap', '--', 'sh', '-c', script], cwd: await newFolder() });
    await running.says(/ready/);
    running.signal('SIGTERM');
    expect(await running.end()).toEqual({ code: 9, signal: null });
    expect(running.stdout).toContain('got it');
  });

  test('run by npm, the program has the working folder of the caller', async () => {
    const cwd = await newFolder();
    const command = ['npm', '--prefix', ROOT, 'run', '-s', 'gateway', '--', 'wrap', '--', 'pwd'] as const;
    await using running = startProcess({ command, cwd });
    expect([(await running.end()).code, running.stdout]).toEqual([0, `${cwd}\n`]);
  });
});

describe('gateway import', () => {
  const COUNT = 30_000;
  const THREAD = 50;
  const START = Date.now() - 5 * 86_400_000;
  const idOf = (n: number) => n.toString(16).padStart(32, '0');
  const rows = Array.from({ length: COUNT }, (_, n) => ({
    id: idOf(n),
    completedAt: START + n * 1_000,
    columns: { total_tokens: n % 100, input_tokens: n % 100, output_tokens: 0 },
    metadata: {
      lineage_thread_id: `thread-${Math.floor(n / THREAD)}`,
      ...(n % THREAD === 0 ? {} : { lineage_parent_checkpoint_id: idOf(n - 1) }),
    },
  }));

  test('repeated kill -9: nothing is duplicated or missing, and the gateway serves all of it', async () => {
    const cwd = await newFolder();
    using old = new OngoingaiStore(join(cwd, 'ongoingai.db'));
    old.add(rows);
    const databasePath = join(cwd, 'traces.db');
    const env = { SVC_STORAGE_PATH: databasePath };
    const line = 'import --from ongoingai.db --format json';
    let before = 0;
    for (let round = 0; round < 2; round += 1) {
      await using running = startProcess({ command: [...GATEWAY, ...line.split(' ')], cwd, env });
      before = await waitUntil(
        () => {
          const count = countOf(databasePath);
          return count > before && count;
        },
        { what: 'more traces in the store' },
      );
      running.signal('SIGKILL');
      expect(await running.end()).toEqual({ code: null, signal: 'SIGKILL' });
    }
    const { code, stdout } = await run(line, cwd, env);
    const report = JSON.parse(stdout) as Record<string, number | boolean>;
    expect([code, report['source_rows'], report['read'], report['proven']]).toEqual([0, COUNT, COUNT, true]);
    expect(report['already_there']).toBeGreaterThanOrEqual(before);
    expect(report['imported']).toBe(COUNT - Number(report['already_there']));

    await using gateway = await startGateway({ folder: cwd, upstream: 'http://127.0.0.1:9' });
    expect((await gateway.health()).trace_count).toBe(COUNT);
    expect(await gateway.get('/api/analytics/usage')).toMatchObject({
      total_tokens: rows.reduce((sum, { columns }) => sum + columns.total_tokens, 0),
    });
    const thread = await gateway.get<{ items: { id: string }[] }>('/api/traces?thread_id=thread-7&limit=200');
    expect(thread.items).toHaveLength(THREAD);
    const target = thread.items[10]?.id;
    const replay = await gateway.get<{ checkpoints: { id: string }[]; target_trace: { metadata: unknown } }>(
      `/api/traces/${target}/replay`,
    );
    expect(replay.checkpoints.map(({ id }) => id)).toEqual(
      thread.items
        .slice(10)
        .map(({ id }) => id)
        .toReversed(),
    );
    expect(replay.target_trace.metadata).toMatchObject({ imported_from: 'ongoingai', imported_from_id: idOf(8 * THREAD - 11) });
    const second = await run(line, cwd, env);
    expect([second.code, second.stderr]).toEqual([1, expect.stringContaining('stop the gateway, import, and start it again')]);
  });
});

function countOf(path: string): number {
  try {
    using database = new DatabaseSync(path, { readOnly: true });
    return Number(database.prepare('SELECT count(*) AS n FROM traces').get()?.['n']);
  } catch {
    return 0;
  }
}
