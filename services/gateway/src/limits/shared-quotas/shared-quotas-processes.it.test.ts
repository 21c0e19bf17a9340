import { expect, test } from '@jest/globals';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { openTcpProxy } from '@vitrine/postgres/testing/tcp-proxy';
import { startMockOpenai } from '@vitrine/testkit/mock-openai';
import { templateDatabase } from '@vitrine/testkit/template-database';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { forkGateway, startClients, type LoadResult } from '../testing/shared-gateways.ts';

const CLIENTS = 24;
/** Requests that fit into the quota. */
const REQUESTS = 800;
const TOKEN = 'one-token-0123456789-0123456789';
const AUTH = `auth: {enabled: true, store: file, keys: [{id: one, token: ${TOKEN}, org_id: acme, workspace_id: search}]}`;
/** Five reports a second, leases of 2 s. */
const WINDOW_MS = 12_000;
const TIMEOUT_MS = 60_000;

/** 429 for the day, 429 for a moment, or the status. */
function kindOf({ status, headers }: LoadResult): string {
  if (status !== 429) return String(status);
  return headers['x-should-retry'] === 'false' ? 'used up' : 'reserved';
}

test(
  'three gateway processes use a daily quota once: what was in flight beyond it at most, also when one is killed and the database was away',
  async () => {
    await using database = await templateDatabase();
    await using proxy = await openTcpProxy(database.dsn);
    await using upstream = await startMockOpenai();
    await using pool = new PostgresPool({ dsn: database.dsn, applicationName: 'test' });
    const stored = async () =>
      (
        await pool.query<{ requests: number; tokens: number }>(
          'SELECT coalesce(sum(requests), 0)::bigint AS requests, coalesce(sum(total_tokens), 0)::bigint AS tokens FROM day_usage',
        )
      )[0] ?? { requests: 0, tokens: 0 };

    const start = (maxTokens: number) =>
      forkGateway({
        dsn: proxy.dsn.reveal(),
        folder: '',
        upstream: upstream.url,
        text: `${AUTH}\nlimits: {per_key: {max_tokens_per_day: ${maxTokens}}}`,
        storage: 'postgres',
        windowMs: WINDOW_MS,
      });

    const tokens = await tokensOfOne();
    await pool.query('TRUNCATE day_usage, quota_reservations');
    const gateways = await Promise.all([0, 1, 2].map(() => start(REQUESTS * tokens)));
    await using running = new AsyncDisposableStack();
    for (const gateway of gateways) running.use(gateway);

    const counts: Record<string, number> = {};
    const of = (kind: string) => counts[kind] ?? 0;
    let usedUpInARow = 0;
    const stop = startClients({ gateways, clients: CLIENTS, pauseMs: 20, token: TOKEN }, (result) => {
      const kind = kindOf(result);
      counts[kind] = of(kind) + 1;
      usedUpInARow = kind === 'used up' ? usedUpInARow + 1 : 0;
    });
    const until = (what: string, isDone: () => boolean) => waitUntil(isDone, { what, timeoutMs: TIMEOUT_MS });
    await until('a quarter of the quota', () => of('200') > REQUESTS / 4);
    await gateways[0]?.kill();
    await until('half of the quota', () => of('200') > REQUESTS / 2);
    await proxy.close();
    const unavailable = of('503');
    await until('processes that hold nothing any more', () => of('503') > unavailable);
    const passedAway = of('200');
    await proxy.open();
    await until('requests that are admitted again', () => of('200') > passedAway + CLIENTS);
    await until('the quota to be used up for all clients', () => usedUpInARow > 4 * CLIENTS);
    await stop();

    let last = { requests: 0, polls: 0 };
    const isWritten = async () => {
      const { requests } = await stored();
      last = { requests, polls: requests === last.requests ? last.polls + 1 : 0 };
      return last.polls > 50;
    };
    await waitUntil(isWritten, { what: 'all traces' });
    const used = (await stored()).tokens / tokens;
    if (process.env['VITRINE_QUOTA_FIGURES'] !== undefined) process.stderr.write(`${JSON.stringify({ used, counts })}\n`);
    expect(used).toBeGreaterThanOrEqual(REQUESTS);
    // One request of each client, including clients that moved to another process.
    expect(used).toBeLessThanOrEqual(REQUESTS + CLIENTS + CLIENTS / 3);

    /** Usage of each request. */
    async function tokensOfOne(): Promise<number> {
      await using gateway = await start(1_000_000);
      let isDone = false;
      const end = startClients({ gateways: [gateway], clients: 1, pauseMs: 10, token: TOKEN }, ({ status }) => {
        isDone ||= status === 200;
      });
      await waitUntil(() => isDone, { what: 'one request', timeoutMs: TIMEOUT_MS });
      await end();
      await waitUntil(async () => (await stored()).requests > 0, { what: 'a trace', timeoutMs: TIMEOUT_MS });
      const one = await stored();
      return one.tokens / one.requests;
    }
  },
  2 * TIMEOUT_MS,
);
