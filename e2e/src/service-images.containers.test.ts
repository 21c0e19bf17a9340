import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeWithContainers } from './describe-with-containers.ts';
import { buildImage, startNetwork, startProgram, startService, type RunningProgram } from './environment.ts';
import { IMAGES } from './images.ts';

const BUILD_TIMEOUT_MS = 300_000;
const PROVIDER_PORT = 8090;
const PROVIDER = `
  require('node:http').createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ model: 'gpt-4o', usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 } }));
  }).listen(${PROVIDER_PORT})`;
/** User, process 1, writable folders, and files that need npm, a compiler or a test. */
const DESCRIBE = `
  const fs = require('node:fs');
  const isForeign = (file) => /\\.test\\.ts$|\\/testing\\/|testkit|testcontainers|node_modules\\/(jest|typescript|@swc)/.test(file);
  const codeOf = (file) => { try { fs.writeFileSync(file, ''); return 'written'; } catch (error) { return error.code; } };
  console.log(JSON.stringify({
    uid: process.getuid(),
    first: fs.readFileSync('/proc/1/cmdline', 'utf8').split('\\0')[0],
    app: codeOf('/app/x'), data: codeOf('/data/x'),
    foreign: fs.readdirSync('/app', { recursive: true }).filter(isForeign),
  }))`;
const RESTRICTED = { uid: 1000, first: 'node', app: 'EROFS', data: 'written', foreign: [] };

const describeFrom = async (program: RunningProgram) =>
  JSON.parse((await program.exec(['node', '-e', DESCRIBE])).output) as Record<string, unknown>;

await describeWithContainers('images of the services', () => {
  const images = new Map<string, string>();
  const imageOf = (target: string) => images.get(target) ?? '';
  beforeAll(async () => {
    for (const target of ['gateway', 'trace-writer', 'store-api', 'enrich-scan-queue', 'operator', 'migrations'])
      images.set(target, await buildImage(target));
  }, 6 * BUILD_TIMEOUT_MS);

  const opened = new AsyncDisposableStack();
  afterAll(() => opened.disposeAsync());

  test('the gateway serves from its image, without root and on a read-only file system, and stops at SIGTERM', async () => {
    const network = await startNetwork();
    opened.defer(async () => void (await network.stop()));
    opened.use(
      await startService({ image: IMAGES.node, command: ['-e', PROVIDER], port: PROVIDER_PORT, network, alias: 'provider' }),
    );
    const env = { SVC_PROVIDERS_OPENAI_UPSTREAM: `http://provider:${PROVIDER_PORT}` };
    const gateway = opened.use(await startService({ image: imageOf('gateway'), env, port: 8080, network }));

    const body = JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'hello' }] });
    const headers = { 'content-type': 'application/json', authorization: 'Bearer test' };
    const response = await fetch(`${gateway.url}/openai/v1/chat/completions`, { method: 'POST', headers, body });
    expect([response.status, await response.json()]).toMatchObject([200, { usage: { total_tokens: 12 } }]);
    const trace = await waitUntil(
      async () => {
        const page = (await (await fetch(`${gateway.url}/api/traces`)).json()) as { items: Record<string, unknown>[] };
        return page.items[0];
      },
      { what: 'the trace' },
    );
    expect(trace).toMatchObject({ provider: 'openai', total_tokens: 12, response_status: 200 });

    expect(await describeFrom(gateway)).toEqual(RESTRICTED);
    await gateway.kill('SIGTERM');
    expect(await gateway.end()).toBe(0);
    expect(gateway.log).not.toMatch(/"level":"(?:error|fatal)"/);
  });

  test('a trace-writer runs from its image in the same way, reports what it waits for, and stops at SIGTERM while it waits', async () => {
    const env = { WRITER_STORAGE_DSN: 'postgresql://nobody:x@127.0.0.1:1/none', WRITER_QUEUE_BROKERS: '127.0.0.1:1' };
    const writer = opened.use(await startService({ image: imageOf('trace-writer'), env, port: 9090 }));
    const ready = await fetch(`${writer.url}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([503, { status: 'not_ready', reasons: ['database_not_reached'] }]);
    expect(await describeFrom(writer)).toEqual(RESTRICTED);
    await writer.kill('SIGTERM');
    expect(await writer.end()).toBe(0);
    expect(writer.log).not.toMatch(/"level":"(?:error|fatal)"/);
  });

  test('a store API runs from its image in the same way, is not ready before its database, and stops at SIGTERM', async () => {
    const env = {
      STORE_API_STORAGE_DSN: 'postgresql://nobody:x@127.0.0.1:1/none',
      STORE_API_AUTH_PEPPERS: `1:${'p'.repeat(32)}`,
    };
    const api = opened.use(await startService({ image: imageOf('store-api'), env, port: 8081 }));
    const statusOf = async (path: string) => (await fetch(api.url + path)).status;
    expect([await statusOf('/livez'), await statusOf('/readyz')]).toEqual([200, 503]);
    expect(await describeFrom(api)).toEqual(RESTRICTED);
    await api.kill('SIGTERM');
    expect(await api.end()).toBe(0);
  });

  test('a scanner runs from its image in the same way, is not ready while it waits, and stops at SIGTERM', async () => {
    const env = { SCAN_STORAGE_DSN: 'postgresql://nobody:x@127.0.0.1:1/none', SCAN_QUEUE_BROKERS: '127.0.0.1:1' };
    const scanner = opened.use(await startService({ image: imageOf('enrich-scan-queue'), env, port: 9090 }));
    const statusOf = async (path: string) => (await fetch(scanner.url + path)).status;
    expect([await statusOf('/livez'), await statusOf('/readyz')]).toEqual([200, 503]);
    expect(await describeFrom(scanner)).toEqual(RESTRICTED);
    await scanner.kill('SIGTERM');
    expect(await scanner.end()).toBe(0);
  });

  test('an operator runs from its image in the same way, is ready to take over without a cluster, and stops at SIGTERM', async () => {
    const env = {
      OPERATOR_STORAGE_DSN: 'postgresql://nobody:x@127.0.0.1:1/none',
      OPERATOR_NAMESPACE: 'default',
      OPERATOR_AUTH_PEPPER_PATH: '/etc/peppers',
    };
    const peppers = opened.use(await temporaryFolder('peppers'));
    await chmod(peppers.path, 0o755);
    await writeFile(join(peppers.path, 'pepper'), `1:${'p'.repeat(32)}`);
    const mount = { source: peppers.path, target: '/etc/peppers' };
    const operator = opened.use(await startService({ image: imageOf('operator'), env, port: 9090, mount }));
    expect((await fetch(`${operator.url}/readyz`)).status).toBe(200);
    expect(await (await fetch(`${operator.url}/api/health`)).json()).toMatchObject({ status: 'ok', role: 'standby' });
    expect(await describeFrom(operator)).toEqual(RESTRICTED);
    await operator.kill('SIGTERM');
    expect(await operator.end()).toBe(0);
  });

  test('the migrations run from theirs: both commands wait, and SIGTERM ends the wait as a failure', async () => {
    const image = imageOf('migrations');
    const runs = [
      { command: ['up', '--dsn', 'postgresql://nobody:x@127.0.0.1:1/none', '--wait', '600'], says: 'waiting for the database' },
      { command: ['topics', '--brokers', '127.0.0.1:1', '--wait', '600'], says: 'waiting 600 s at most' },
    ];
    for (const { command, says } of runs) {
      const program = opened.use(await startProgram({ image, command }));
      await waitUntil(() => program.log.includes(says), { what: says });
      expect(await describeFrom(program)).toEqual(RESTRICTED);
      await program.kill('SIGTERM');
      expect(await program.end()).toBe(1);
      expect(program.log).toContain('ECONNREFUSED');
    }
  });
});
