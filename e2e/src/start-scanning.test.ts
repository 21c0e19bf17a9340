import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Secret } from '@vitrine/config/secret';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { npmScript } from '@vitrine/testkit/npm-script';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { randomBytes } from 'node:crypto';
import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandsIn, paste } from './printed-commands.ts';
import { describeWithPrograms } from './programs.ts';
import { freePort, startProcess, type RunningProcess } from './running-process.ts';

const SLOW_MS = 220_000;
const TEST_MS = 1_200_000;

interface Profile {
  readonly store: {
    readonly platform: { readonly slug: string } | null;
    readonly recent_signals: readonly { readonly type: string; readonly technology: string | null; readonly to: string | null }[];
  } | null;
}
interface Enrichment {
  readonly results: readonly { readonly match: string; readonly scan_requested: boolean; readonly scan_job_id: string }[];
}

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder('scanning');
  // If started by root, the database runs as another user.
  chmodSync(folder.path, 0o755);
});
afterAll(async () => folder[Symbol.asyncDispose]());

async function start(name: string, args: readonly string[], variables: Readonly<Record<string, string>> = {}) {
  const ports = { SVC_SERVER_PORT: String(await freePort()), STORE_API_SERVER_PORT: String(await freePort()) };
  const env = { VITRINE_DATA_DIR: join(folder.path, name), ...ports, ...variables };
  return startProcess({ command: [...npmScript('start'), ...args], cwd: folder.path, env });
}

/** The printed lines that call the store API, once the last of them was printed. */
async function linesOf(running: RunningProcess): Promise<string[]> {
  const lines = () => {
    if (!running.isRunning) throw new Error(`it ended: ${running.stdout}\n${running.stderr}`);
    const found = commandsIn(running.stdout, 'curl').filter((line) => line.includes('/v1/stores/'));
    return /5\. Have [^]*-d '[^\n]*\n/.test(running.stdout) ? found : undefined;
  };
  return waitUntil(lines, { what: 'lines to paste', timeoutMs: SLOW_MS });
}

async function stop(running: RunningProcess): Promise<void> {
  running.signal('SIGINT', 'group');
  expect(await running.end(SLOW_MS)).toEqual({ code: 0, signal: null });
  expect(running.stderr).not.toContain('svc-enrich-scan-queue');
}

describeWithPrograms(['curl'], 'what npm start prints of stores', () => {
  test(
    'the demonstration: an addition, a removal and a migration are confirmed, shown and printed, and a fourth shop is scanned on request',
    async () => {
      await using running = await start('demo', ['--demo']);
      const lines = await linesOf(running);
      const profileOf = async (domain: string) =>
        JSON.parse(await paste(lines.find((line) => line.includes(`/v1/stores/${domain} `)) ?? '')) as Profile;
      // A line is printed after the commit; asking the API again and again would use up the requests of its plan.
      const isPrinted = (text: string) =>
        waitUntil(() => running.stdout.includes(`  ${text}\n`), { what: `${text} on stdout`, timeoutMs: SLOW_MS });
      const changes = [
        ['example.com', 'technology_added judge-me', { type: 'technology_added', technology: 'judge-me' }],
        ['example.net', 'technology_removed hotjar', { type: 'technology_removed', technology: 'hotjar' }],
        ['example.org', 'platform_migrated woocommerce -> shopify', { type: 'platform_migrated', to: 'shopify' }],
      ] as const;
      for (const [domain, text, signal] of changes) {
        await isPrinted(`${domain}  ${text}`);
        const { store } = await profileOf(domain);
        expect(store?.recent_signals).toContainEqual(expect.objectContaining(signal));
        expect(running.stdout.split(text)).toHaveLength(2);
      }
      expect((await profileOf('example.org')).store?.platform?.slug).toBe('shopify');

      const enrich = lines.find((line) => line.includes('/enrich ')) ?? '';
      expect(JSON.parse(await paste(enrich))).toMatchObject({ results: [{ match: 'no_match', scan_requested: true }] });
      await isPrinted('example.edu  store_first_observed');
      expect((await profileOf('example.edu')).store?.platform?.slug).toBe('bigcommerce');
      await stop(running);
    },
    TEST_MS,
  );

  test(
    'npm start: a requested scan of a name that does not resolve ends as failed and changes nothing',
    async () => {
      // The name is not requested repeatedly.
      await using running = await start('plain', [], { SCAN_JOBS_MAX_ATTEMPTS: '1' });
      const lines = await linesOf(running);
      const domain = `vitrine-${randomBytes(12).toString('hex')}.com`;
      const enrich = (lines.find((line) => line.includes('/enrich ')) ?? '').replace('YOUR-STORE.com', domain);
      const { results } = JSON.parse(await paste(enrich)) as Enrichment;
      expect(results).toMatchObject([{ match: 'no_match', scan_requested: true }]);
      const file = join(folder.path, 'plain', 'stores', 'store-api.yaml');
      const { storage } = JSON.parse(readFileSync(file, 'utf8')) as { storage: { dsn: string } };
      await using pool = new PostgresPool({ dsn: new Secret(storage.dsn), applicationName: 'test', maxConnections: 1 });
      const jobs = () =>
        pool.query<{ domain: string; status: string; error: string }>('SELECT domain, status, error FROM scan_jobs');
      await waitUntil(async () => (await jobs()).every(({ status }) => status === 'failed'), {
        what: 'the end',
        timeoutMs: SLOW_MS,
      });
      // The recorded demonstration is not scanned.
      expect(await jobs()).toEqual([{ domain, status: 'failed', error: expect.stringMatching(/^dns: /) }]);
      expect(await pool.query('SELECT FROM stores WHERE domain = $1', [domain])).toEqual([]);
      const again = JSON.parse(await paste(enrich.replace('"refresh":true', '"refresh":false'))) as Enrichment;
      expect(again.results).toMatchObject([{ match: 'no_match', reason: 'not_in_corpus', store: null, scan_requested: false }]);
      await pool[Symbol.asyncDispose]();
      await stop(running);
    },
    TEST_MS,
  );
});
