import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { plainTrace } from '@vitrine/traces/testing/plain-trace';
import { DAY_MS } from '@vitrine/traces/time-buckets';
import type { TraceQuery } from '@vitrine/traces/trace-store';
import { FEW, NEWEST, SOME } from './by-tokens.ts';
import { openWatchedStore, type WatchedStore } from './testing/watched-store.ts';

const MANY = 7_000;
const THREE_DAYS_AGO = Date.now() - 3 * DAY_MS;
const LIMIT = 20;

let watched: WatchedStore;
beforeAll(async () => {
  const tokensOf = (at: number) => (at > SOME ? 3 : at <= 2 * FEW ? MANY + at : MANY);
  const length = SOME + 1 + NEWEST;
  watched = await openWatchedStore(
    Array.from({ length }, (_, at) => plainTrace(THREE_DAYS_AGO + at, { total_tokens: tokensOf(at) })),
  );
});
afterAll(async () => watched[Symbol.asyncDispose]());

/** Tokens of the first pages of a list, and whether any of them was read by the index on tokens. */
async function read(query: Omit<TraceQuery, 'limit'>): Promise<{ pages: number[][]; isByTokens: boolean }> {
  const { store, statements } = watched;
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

test.each([
  ['few', MANY + 2 * FEW - LIMIT - 5],
  ['more than those that the newest have not', MANY + 1],
])('%s are read by their tokens, newest first', async (_, tokens) => {
  const { pages, isByTokens } = await read({ min_tokens: tokens });
  const newest = Array.from({ length: 2 * LIMIT }, (_, at) => MANY + 2 * FEW - at).filter((one) => one >= tokens);
  expect(pages).toEqual([newest.slice(0, LIMIT), newest.slice(LIMIT)]);
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

test('with other filters few of them are counted', async () => {
  expect((await read({ min_tokens: MANY + 2 * FEW - 9, model: 'none' })).pages).toEqual([[]]);
  const { pages, isByTokens } = await read({ min_tokens: MANY + 2 * FEW - 9, to: THREE_DAYS_AGO + 2 * FEW - 14 });
  expect(pages).toEqual([[4, 5, 6, 7, 8, 9].map((less) => MANY + 2 * FEW - less)]);
  expect(isByTokens).toBe(true);
});
