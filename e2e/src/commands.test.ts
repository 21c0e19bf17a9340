import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startMockOpenai } from '@vitrine/testkit/mock-openai';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GATEWAY, startGateway, type RunningGateway } from './running-gateway.ts';
import { startProcess } from './running-process.ts';

const SECRET = 'sk-proj-0123456789abcdef';
const LOOKS_LIKE_A_STACK = /\n\s+at .+:\d+:\d+/;

let opened: AsyncDisposableStack;
let folder: string;
let gateway: RunningGateway;
beforeAll(async () => {
  await using stack = new AsyncDisposableStack();
  folder = stack.use(await temporaryFolder('commands')).path;
  const upstream = stack.use(await startMockOpenai());
  // Stored data is not redacted, to test that printed data is.
  const variables = { SVC_TRACING_CAPTURE_BODIES: 'true', SVC_PII_MODE: 'off', SVC_PII_DETECTORS_TOKEN_LIKE: 'false' };
  gateway = stack.use(await startGateway({ folder, upstream: upstream.url, variables }));
  for (const words of ['Say hello', `My key is ${SECRET}`]) {
    const response = await fetch(`${gateway.url}/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json', 'x-svc-thread-id': 'thread-1' },
      body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: words }] }),
    });
    await response.text();
  }
  await waitUntil(async () => (await gateway.health()).trace_count === 2, { what: 'two traces' });
  opened = stack.move();
});
afterAll(async () => opened.disposeAsync());

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command in the gateway's folder, with the gateway's settings of storage and port. */
async function run(line: string, env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const words = line === '' ? [] : line.split(' ');
  await using running = startProcess({
    command: [...GATEWAY, ...words],
    cwd: folder,
    env: { SVC_STORAGE_PATH: gateway.databasePath, SVC_SERVER_PORT: String(gateway.port), ...env },
  });
  const { code } = await running.end();
  const { stdout, stderr } = running;
  expect(stdout + stderr).not.toContain(SECRET);
  expect(stderr).not.toMatch(LOOKS_LIKE_A_STACK);
  return { code, stdout, stderr };
}
const json = async <T = unknown>(line: string, env?: Readonly<Record<string, string>>) => {
  const { code, stdout } = await run(`${line} --format json`, env);
  return [code, JSON.parse(stdout) as T] as const;
};

interface Diagnosis {
  readonly overall_status: string;
  readonly checks: readonly { readonly name: string; readonly status: string }[];
}

describe('beside a running gateway', () => {
  test('version prints the version that the gateway reports', async () => {
    const { version } = await gateway.get<{ version: string }>('/');
    for (const line of ['version', '--version', '-v'])
      expect(await run(line)).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
    expect(await json('version')).toEqual([0, { version }]);
  });

  test('config validate reports whether a gateway would start', async () => {
    expect(await run('config validate')).toMatchObject({ code: 0, stdout: 'The configuration is valid.\n' });
    expect(await json('config validate', { SVC_SERVER_PORT: '70000', SVC_NOTHING: '1' })).toEqual([
      1,
      {
        valid: false,
        error: expect.stringContaining('SVC_SERVER_PORT'),
        faults: [expect.objectContaining({ path: 'SVC_NOTHING' }), expect.objectContaining({ path: 'server.port' })],
      },
    ]);
    await writeFile(join(folder, 'idle.yaml'), 'plans: { gold: { per_workspace: { requests_per_minute: 5 } } }');
    const idle = { SVC_CONFIG: join(folder, 'idle.yaml'), SVC_AUTH_ENABLED: 'true' };
    const warnings = [expect.stringContaining('plans.gold.per_workspace has no effect')];
    expect(await json('config validate', idle)).toEqual([0, { valid: true, warnings }]);
    expect((await run('config validate', idle)).stdout).toMatch(/\nWarning: plans\.gold\.per_workspace has no effect/);
    const [, { checks }] = await json<Diagnosis>('doctor', idle);
    expect(checks).toContainEqual(expect.objectContaining({ name: 'config', status: 'warn', details: warnings }));
    await writeFile(join(folder, 'broken.yaml'), 'server: [');
    const { code, stderr } = await run('config validate --config broken.yaml');
    expect([code, stderr]).toEqual([1, expect.stringContaining('broken.yaml')]);
  });

  test('doctor reports passes, warnings and failures', async () => {
    const statuses = async (env: Readonly<Record<string, string>>) => {
      const [code, { overall_status: overall, checks }] = await json<Diagnosis>('doctor', env);
      return [code, overall, ...checks.map(({ name, status }) => `${name} ${status}`)];
    };
    expect(await statuses({})).toEqual([
      0,
      'warn',
      'config pass',
      'storage pass',
      'route_wiring pass',
      'auth_posture warn',
      'plans pass',
      'prices pass',
    ]);
    expect(await statuses({ SVC_STORAGE_PATH: '/dev/null/traces.db', SVC_PROVIDERS_OPENAI_UPSTREAM: gateway.url })).toEqual([
      1,
      'fail',
      'config pass',
      'storage fail',
      'route_wiring fail',
      'auth_posture warn',
      'plans pass',
      'prices pass',
    ]);
    expect(await statuses({ SVC_SERVER_PORT: 'x' })).toEqual([
      1,
      'fail',
      'config fail',
      'storage skip',
      'route_wiring skip',
      'auth_posture skip',
      'plans skip',
      'prices skip',
    ]);
    const { stdout } = await run('doctor');
    expect(stdout).toMatch(/^pass {2}storage: the traces can be read and written\n(?: {8}.+\n)* {8}newest trace: 2/m);
    expect(stdout).toContain('Overall: warn');
  });

  test('env is read by a shell', async () => {
    const { stdout } = await run('env');
    await using shell = startProcess({
      command: ['sh', '-c', `${stdout}printf '%s %s' "$OPENAI_BASE_URL" "$ANTHROPIC_BASE_URL"`],
    });
    await shell.end();
    expect(shell.stdout).toBe(`${gateway.url}/openai/v1 ${gateway.url}/anthropic`);
    expect(await json('env')).toEqual([
      0,
      { OPENAI_BASE_URL: `${gateway.url}/openai/v1`, ANTHROPIC_BASE_URL: `${gateway.url}/anthropic` },
    ]);
  });

  test('report sums up usage, in tables and as JSON', async () => {
    expect((await run('report')).stdout).toMatch(/^requests 2, tokens [1-9]\d* /m);
    const [code, report] = await json('report --provider openai --limit 1');
    expect([code, report]).toEqual([
      0,
      expect.objectContaining({
        schema_version: 'report.v1',
        filters: { provider: 'openai', limit: 1 },
        summary: expect.objectContaining({ total_requests: 2, active_keys: 1, top_model: 'gpt-4o-mini' }),
        recent_traces: [expect.objectContaining({ model: 'gpt-4o-mini' })],
      }),
    ]);
  });

  test('debug shows the conversation and exports it as a bundle', async () => {
    const { code, stdout } = await run('debug last --diff');
    expect(code).toBe(0);
    expect(stdout).toMatch(/of thread thread-1: 2 checkpoints\./);
    expect(stdout).toMatch(/^Changes$/m);
    const [, chain] = await json('debug --thread-id thread-1 --include-headers --include-bodies --bundle-out bundle');
    expect(chain).toMatchObject({
      schema_version: 'debug-chain.v1',
      chain: { checkpoint_count: 2, checkpoints: [{ step: 1 }, { step: 2 }] },
    });
    expect(JSON.stringify(chain)).toContain('My key is [CREDENTIAL_REDACTED]');
    const bundled = readFileSync(join(folder, 'bundle', 'debug-chain.json'), 'utf8');
    const [file] = (JSON.parse(readFileSync(join(folder, 'bundle', 'manifest.json'), 'utf8')) as { files: { sha256: string }[] })
      .files;
    expect(file?.sha256).toBe(createHash('sha256').update(bundled).digest('hex'));
    expect(JSON.parse(bundled)).toEqual(chain);
    expect((await run('debug --bundle-out bundle')).code).toBe(1);
    expect((await run('debug --trace-id 0')).code).toBe(1);
  });

  test('diagnostics are those of the gateway', async () => {
    const { diagnostics } = await gateway.get<{ diagnostics: object }>('/api/diagnostics/trace-pipeline');
    expect(await json('diagnostics')).toEqual([
      0,
      { schema_version: 'trace-pipeline-diagnostics.v1', generated_at: expect.any(String), diagnostics },
    ]);
    expect((await run('diagnostics')).stdout).toMatch(/^written_total +2$/m);
    const { code, stderr } = await run('diagnostics --base-url http://127.0.0.1:9 --timeout 2000');
    expect([code, stderr]).toEqual([1, expect.stringContaining('no Vitrine gateway reached at http://127.0.0.1:9')]);
  });
});

describe('with keys', () => {
  test('doctor and diagnostics know of them', async () => {
    await using stack = new AsyncDisposableStack();
    const own = stack.use(await temporaryFolder('commands-keys')).path;
    const variables = { SVC_AUTH_ENABLED: 'true' };
    const storage = { SVC_STORAGE_PATH: join(own, 'traces.db'), ...variables };
    const posture = async () => {
      const [code, { checks }] = await json<Diagnosis>('doctor', storage);
      return [code, checks.find(({ name }) => name === 'auth_posture')?.status];
    };
    expect(await posture()).toEqual([1, 'fail']);
    expect(readdirSync(own)).toEqual([]);
    const [, { token }] = await json<{ token: string }>('keys create --role viewer', storage);
    expect(await posture()).toEqual([0, 'pass']);
    await writeFile(join(own, 'plans.yaml'), 'plans: { gold: {} }');
    await run('keys create --role viewer --plan gold', { ...storage, SVC_CONFIG: join(own, 'plans.yaml') });
    expect(await posture()).toEqual([0, 'warn']);
    const locked = stack.use(await startGateway({ folder: own, upstream: 'http://127.0.0.1:9', variables }));
    const command = `diagnostics --base-url ${locked.url}`;
    const { code, stderr } = await run(command);
    expect([code, stderr]).toEqual([1, expect.stringContaining('responded with 401: missing or invalid gateway key')]);
    expect((await run(command, { VITRINE_GATEWAY_KEY: token })).code).toBe(0);
    const broken = stack.use(await temporaryFolder('commands-broken')).path;
    await writeFile(join(broken, 'gateway-keys.db'), 'these are my notes. '.repeat(200));
    const { stdout } = await run('doctor', {
      ...storage,
      SVC_STORAGE_PATH: join(broken, 'traces.db'),
      SVC_AUTH_PEPPERS: `1:${'x'.repeat(32)}`,
    });
    expect(stdout).toMatch(/^fail {2}auth_posture: .+\n.+\n.+the file is text and not an SQLite database$/m);
    for (const bad of ['--auth-header Cookie', '--gateway-key hunter2-ü']) {
      const refused = await run(`${command} ${bad}`, { VITRINE_GATEWAY_KEY: 'hunter2\nhunter2' });
      expect([refused.code, refused.stderr]).toEqual([2, expect.not.stringContaining('hunter2')]);
    }
  });
});

describe('the command line', () => {
  test.each([
    ['--help', ['serve', 'config validate', 'doctor', 'report', 'debug', 'diagnostics', 'env', 'keys create', 'version']],
    ['config --help', ['config validate']],
    ['keys --help', ['keys create', 'keys list', 'keys rotate', 'keys revoke']],
  ])('%s lists commands', async (line, names) => {
    const { code, stdout } = await run(line);
    expect(code).toBe(0);
    for (const name of names) expect(stdout).toContain(`gateway ${name}`);
  });

  test.each(['serve', 'config validate', 'doctor', 'report', 'debug', 'diagnostics', 'env', 'version'])(
    '%s --help shows examples',
    async (name) => {
      const { code, stdout } = await run(`${name} --help`);
      expect([code, stdout]).toEqual([0, expect.stringMatching(/Examples?:\n/)]);
    },
  );

  test.each([
    'nonsense',
    'config',
    'config nonsense',
    'debug --limit 501',
    'report --from yesterday',
    'doctor --format xml',
    'debug --trace-id 0 --thread-id thread-1',
    'debug last --trace-id 0',
    'debug --limit 1 --limit 2',
    'report --version',
    'env more',
    'debug last last',
  ])('%s ends with 2 and shows the usage', async (line) => {
    const { code, stdout, stderr } = await run(line);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('usage: gateway');
  });
});

describe('after the gateway has stopped', () => {
  test('the store can still be read, and commands that need a gateway report that there is none', async () => {
    gateway.process.signal('SIGTERM');
    await gateway.process.end();
    const [code, chain] = await json('debug last');
    expect([code, chain]).toEqual([0, expect.objectContaining({ schema_version: 'debug-chain.v1' })]);
    expect((await run('diagnostics')).code).toBe(1);
    expect((await run('doctor')).code).toBe(0);
  });
});
