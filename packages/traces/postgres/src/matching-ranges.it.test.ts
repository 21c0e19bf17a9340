import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DAY_MS } from '@vitrine/traces/time-buckets';
import { plainTrace } from '@vitrine/traces/testing/plain-trace';
import type { TraceQuery } from '@vitrine/traces/trace-store';
import { openWatchedStore, type WatchedStore } from './testing/watched-store.ts';

const DAYS = 20;
/** Days, counted back, with traces of another provider. */
const RARE_DAYS = [3, 4, 17];

let watched: WatchedStore;
beforeAll(async () => {
  watched = await openWatchedStore(
    Array.from({ length: DAYS }, (_, day) => day).flatMap((day) => [
      plainTrace(Date.now() - day * DAY_MS - 1_000),
      ...(RARE_DAYS.includes(day)
        ? [plainTrace(Date.now() - day * DAY_MS, { provider: 'anthropic', model: 'rare', total_tokens: 9_000 })]
        : []),
    ]),
  );
});
afterAll(async () => watched[Symbol.asyncDispose]());

/** The number of traces of a list, and of day ranges read for it. */
async function read(query: Omit<TraceQuery, 'limit'>): Promise<[found: number, reads: number]> {
  const { store, statements } = watched;
  statements.length = 0;
  const { items } = await store.list({ ...query, limit: 50 });
  return [items.length, statements.filter((text) => /^SELECT "id".* FROM (traces WHERE|\(SELECT \*)/.test(text)).length];
}

test('contradictory filters read only the last day', async () => {
  // A model selects no days.
  expect(await read({ provider: 'anthropic', model: 'gpt-4o' })).toEqual([0, RARE_DAYS.length]);
  expect(await read({ provider: 'unknown' })).toEqual([0, 1]);
  expect(await read({ min_tokens: 9_001 })).toEqual([0, 0]);
  expect(await read({ max_tokens: 2 })).toEqual([0, 0]);
});

test('a list of traces on few days reads those days, and the last one unless its tokens exclude it', async () => {
  expect(await read({ provider: 'anthropic' })).toEqual([RARE_DAYS.length, 3]);
  expect(await read({ min_tokens: 9_000 })).toEqual([RARE_DAYS.length, 2]);
  expect(await read({ min_tokens: 9_000, max_tokens: 9_000 })).toEqual([RARE_DAYS.length, 2]);
});

test('a list of traces on all days reads increasingly more days', async () => {
  expect(await read({ provider: 'openai' })).toEqual([DAYS, 4]);
  expect((await read({}))[1]).toBe(4);
});
