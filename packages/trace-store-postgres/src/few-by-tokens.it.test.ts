import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { templateDatabase } from '@vitrine/testkit/template-database';
import { plainTrace } from '@vitrine/traces/testing/plain-trace';
import { DAY_MS } from '@vitrine/traces/time-buckets';
import type { TraceQuery } from '@vitrine/traces/trace-store';
import { FEW, NEWEST } from './few-by-tokens.ts';
import { openPostgresTraceStore } from './postgres-trace-store.ts';
import { PostgresTraceWriter } from './postgres-trace-writer.ts';

const MANY = 7_000;
const THREE_DAYS_AGO = Date.now() - 3 * DAY_MS;
const LIMIT = 20;

const opened = new AsyncDisposableStack();
const statements: string[] = [];
let store: ReturnType<typeof openPostgresTraceStore>;
beforeAll(async () => {
  const { dsn } = opened.use(await templateDatabase());
  const pool = opened.use(new PostgresPool({ dsn, applicationName: 'test' }));
  const tokensOf = (at: number) => (at > FEW ? 3 : at % 100 === 0 && at < 2_000 ? MANY + at : MANY);
  const records = Array.from({ length: FEW + 1 + NEWEST }, (_, at) =>
    plainTrace(THREE_DAYS_AGO + at, { total_tokens: tokensOf(at) }),
  );
  await new PostgresTraceWriter(pool).write({ count: records.length, records: () => records });
  const beforeStatement = (text: string) => void statements.push(text);
  store = opened.use(openPostgresTraceStore({ dsn, applicationName: 'test', beforeStatement }));
});
afterAll(async () => opened.disposeAsync());

/** Tokens of the first pages of a list, and whether any of them was read by the index on tokens. */
async function read(query: Omit<TraceQuery, 'limit'>): Promise<{ pages: number[][]; isByTokens: boolean }> {
  statements.length = 0;
  const pages: number[][] = [];
  let after: Uint8Array | undefined;
  do {
    const { items, next_cursor: next } = await store.list({ ...query, limit: LIMIT, after });
    pages.push(items.map(({ total_tokens: tokens }) => tokens));
    after = next === undefined || pages.length === 2 ? undefined : Buffer.from(next, 'base64url');
  } while (after !== undefined);
  return { pages, isByTokens: statements.some((text) => text.includes('OFFSET 0')) };
}

test('few traces of many tokens are read by their tokens, newest first', async () => {
  const { pages, isByTokens } = await read({ min_tokens: MANY + 1 });
  expect(pages).toEqual([Array.from({ length: 19 }, (_, at) => MANY + 1_900 - at * 100)]);
  expect(isByTokens).toBe(true);
});

test.each([
  ['those of the newest that fill a page', { max_tokens: 3 }],
  ['many', { min_tokens: MANY }],
])('%s are read in the order of ids', async (_, query) => {
  const { pages, isByTokens } = await read(query);
  expect(pages.map(({ length }) => length)).toEqual([LIMIT, LIMIT]);
  expect(isByTokens).toBe(false);
});

test('other filters count among few of them', async () => {
  expect((await read({ min_tokens: MANY + 1, model: 'none' })).pages).toEqual([[]]);
  const { pages, isByTokens } = await read({ min_tokens: MANY + 1, to: THREE_DAYS_AGO + 500 });
  expect(pages).toEqual([[500, 400, 300, 200, 100].map((more) => MANY + more)]);
  expect(isByTokens).toBe(true);
});
