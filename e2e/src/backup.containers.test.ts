import { expect, test } from '@jest/globals';
import { startMockOpenai } from '@vitrine/testkit/mock-openai';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { engineError, startPostgres } from './environment.ts';
import { describeWithPrograms, missingPrograms, runProgram } from './programs.ts';
import { IMAGES } from './images.ts';
import { startGateway, type RunningGateway } from './running-gateway.ts';
import { ROOT, startProcess } from './running-process.ts';

const TEST_TIMEOUT_MS = 240_000;
const OWNER = 'owner-token-0123456789-0123456789';
/** The lines of the section, block by block, as a user would paste them. */
const BLOCKS = [...backupSection().matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, lines = '']) => lines);
const [DUMP = '', RESTORE = '', FILES = ''] = BLOCKS;

function backupSection(): string {
  return /^## Backup\n[^]*?(?=^## )/m.exec(readFileSync(join(ROOT, 'docs/operations.md'), 'utf8'))?.[0] ?? '';
}

async function paste(lines: string, env: Readonly<Record<string, string>>) {
  await using shell = startProcess({ command: ['sh', '-e', '-c', lines], env, cwd: ROOT });
  const { code } = await shell.end();
  return { code, output: shell.stdout + shell.stderr };
}

/** The client's view of the store: traces, sums and accepted keys. */
async function viewOf(gateway: RunningGateway, token: string) {
  const { items } = await gateway.get<{ items: { id: string }[] }>('/api/traces?limit=50');
  const trace = await gateway.get(`/api/traces/${items[0]?.id}`);
  const usage = await gateway.get('/api/analytics/usage?group_by=model');
  const { status } = await fetch(`${gateway.url}/api/traces`, { headers: { 'x-svc-gateway-key': token } });
  return { items, trace, usage, status };
}

/** Creates a key, and a trace with it. */
async function use(gateway: RunningGateway): Promise<string> {
  const made = await fetch(`${gateway.url}/api/gateway-keys`, {
    method: 'POST',
    headers: { 'x-svc-gateway-key': OWNER, 'content-type': 'application/json' },
    body: JSON.stringify({ role: 'viewer' }),
  });
  const { token } = (await made.json()) as { readonly token: string };
  const headers = { 'x-svc-gateway-key': OWNER, authorization: 'Bearer sk-test-0123456789', 'content-type': 'application/json' };
  const body = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hello' }] });
  await (await fetch(`${gateway.url}/openai/v1/chat/completions`, { method: 'POST', headers, body })).arrayBuffer();
  const hasTrace = async () => (await gateway.get<{ items: unknown[] }>('/api/traces')).items.length > 0;
  await waitUntil(hasTrace, { what: 'the trace', timeoutMs: 30_000 });
  return token;
}

async function openFolder(opened: AsyncDisposableStack): Promise<{ folder: string; backup: string }> {
  const folder = opened.use(await temporaryFolder('backup')).path;
  await writeFile(join(folder, 'vitrine.yaml'), `auth: {enabled: true, keys: [{id: owner, token: ${OWNER}, role: owner}]}\n`);
  const backup = join(folder, 'backup');
  await mkdir(backup);
  return { folder, backup };
}

const PROGRAMS = ['pg_dump', 'pg_dumpall', 'pg_restore', 'psql'];
const majorOf = (text: string) => Number(/\d+/.exec(text)?.[0]);

describeWithPrograms(
  PROGRAMS,
  'the lines of docs/operations.md for Postgres',
  () => {
    test(
      'restore a dump into a new server, from which a gateway serves the same traces, sums and keys',
      async () => {
        await using opened = new AsyncDisposableStack();
        const { folder, backup: BACKUP } = await openFolder(opened);
        const [old, fresh] = await Promise.all([startPostgres(), startPostgres()]);
        opened.defer(async () => void (await Promise.all([old.stop(), fresh.stop()])));
        const upstream = opened.use(await startMockOpenai()).url;
        const start = (dsn: string) => {
          const variables = { SVC_STORAGE_DRIVER: 'postgres', SVC_STORAGE_DSN: dsn, SVC_AUTH_PEPPERS: `1:${'p'.repeat(40)}` };
          return startGateway({ folder, upstream, variables, gatewayKey: OWNER });
        };
        const envOf = (VITRINE_POSTGRES_DSN: string) => ({ VITRINE_POSTGRES_DSN, BACKUP });
        const from = envOf(old.getConnectionUri());
        expect(await paste('npm run migrate', from)).toMatchObject({ code: 0 });
        const [before, token] = await (async () => {
          await using gateway = await start(from.VITRINE_POSTGRES_DSN);
          const made = await use(gateway);
          return [await viewOf(gateway, made), made] as const;
        })();
        expect(before.status).toBe(200);

        expect(await paste(DUMP, from)).toEqual({ code: 0, output: '' });
        const to = envOf(fresh.getConnectionUri());
        const restored = await paste(RESTORE, to);
        expect([restored.code, restored.output.match(/^(?:missing|differs|unexpected): .*/gm)]).toEqual([0, null]);
        await using gateway = await start(to.VITRINE_POSTGRES_DSN);
        expect(await viewOf(gateway, token)).toEqual(before);
      },
      TEST_TIMEOUT_MS,
    );
  },
  (await engineError()) ?? oldClient(),
);

/** A client that is older than the server refuses to dump it; the tag of an image is its version. */
function oldClient(): string | undefined {
  if (missingPrograms(PROGRAMS).length > 0) return undefined;
  const client = majorOf(runProgram('pg_dump', ['--version']).stdout);
  const server = majorOf(IMAGES.postgres.split(':').at(-1) ?? '');
  return client < server ? `pg_dump is ${client}, the server ${server}` : undefined;
}

test('the lines of docs/operations.md for SQLite copy the files of a running gateway, and another serves from the copies', async () => {
  await using opened = new AsyncDisposableStack();
  const { folder, backup: BACKUP } = await openFolder(opened);
  const upstream = opened.use(await startMockOpenai()).url;
  const start = (cwd: string) =>
    startGateway({ folder: cwd, upstream, variables: { SVC_STORAGE_PATH: join(cwd, 'traces.db') }, gatewayKey: OWNER });
  await using running = await start(folder);
  const token = await use(running);
  const before = await viewOf(running, token);
  expect(before.status).toBe(200);
  expect(await paste(FILES, { VITRINE_DATA_DIR: folder, BACKUP })).toMatchObject({ code: 0 });
  await writeFile(join(BACKUP, 'vitrine.yaml'), readFileSync(join(folder, 'vitrine.yaml')));
  await using other = await start(BACKUP);
  expect(await viewOf(other, token)).toEqual(before);
});
