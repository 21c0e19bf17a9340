import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { randomBytes } from 'node:crypto';
import { commitDemoStore } from '../demo/demo-store.ts';
import { importVocabulary } from '../import-vocabulary.ts';
import { countProfiles, renderProfiles } from '../commit/render-profiles.ts';
import { storeDatabase, type StoreDatabase } from '../testing/store-database.ts';
import { T0, URLS } from '../testing/store-states.ts';
import { VOCABULARY } from '@vitrine/registry/vocabulary';
import { allowDomain, denyDomain, readDenylist } from './denylist.ts';
import { importCorpus, type BadLine } from './import-corpus.ts';

let database: StoreDatabase;
let pool: PostgresPool;
beforeAll(async () => {
  database = await storeDatabase();
  pool = database.as('vitrine_store_api');
  await importVocabulary(pool, VOCABULARY);
});
afterAll(async () => database[Symbol.asyncDispose]());

/** The text in chunks of a few characters, as in a stream. */
async function* chunksOf(text: string, size: number): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
}

const importText = async (text: string, keepGoing = false, size = 7) => {
  const bad: BadLine[] = [];
  const result = await importCorpus(pool, {
    chunks: chunksOf(text, size),
    keepGoing,
    onBadLine: ({ line, reason }) => bad.push({ line, reason }),
    onProgress: () => {},
    nowMs: () => T0,
    random: randomBytes,
  });
  return { ...result, badLines: bad };
};
const ranks = async (like: string) =>
  Object.fromEntries(
    (await pool.query<{ domain: string; rank: number }>('SELECT domain, rank FROM stores WHERE domain LIKE $1', [like])).map(
      ({ domain, rank }) => [domain, rank],
    ),
  );

test('domains in any form become candidates with ranks; the last line of a domain counts', async () => {
  const text = '\uFEFFdomain,rank\r\nhttps://www.a.rank1.com/x,5\r\n\r\nB.RANK2.com , 7\nrank3.com\nb.rank2.com,9';
  expect(await importText(text)).toEqual({ lines: 6, added: 3, ranked: 0, bad: 0, badLines: [] });
  expect(await ranks('rank%')).toEqual({ 'rank1.com': 5, 'rank2.com': 9, 'rank3.com': null });
  expect(await importText('rank1.com,6\nrank2.com,9\nrank3.com\n')).toMatchObject({ added: 0, ranked: 1 });
  expect(await ranks('rank%')).toEqual({ 'rank1.com': 6, 'rank2.com': 9, 'rank3.com': null });
});

test('invalid lines are reported by number; the import ends before the first, or continues', async () => {
  const text = [
    'bad1.com,1',
    'localhost,2',
    'bad2.com,0',
    'bad3.com,1,2',
    `${'x'.repeat(5_000)}.com,3`,
    'bad4.com,1e3',
    'bad5.com,4',
  ].join('\n');
  expect(await importText(text)).toMatchObject({ lines: 2, added: 1, bad: 1, badLines: [{ line: 2 }] });
  expect(await ranks('bad%')).toEqual({ 'bad1.com': 1 });
  const result = await importText(text, true);
  expect(result).toMatchObject({ lines: 7, added: 1, bad: 5 });
  expect(result.badLines.map(({ line }) => line)).toEqual([2, 3, 4, 5, 6]);
  expect(result.badLines[1]?.reason).toBe('rank must be a whole number from 1 to 2147483647');
  expect(await ranks('bad%')).toEqual({ 'bad1.com': 1, 'bad5.com': 4 });
});

test('a list of many batches is imported completely by two concurrent imports', async () => {
  const lines = Array.from({ length: 5_000 }, (_, i) => `many-${i}.com,${i + 1}`);
  const results = await Promise.all([lines, lines.toReversed()].map((list) => importText(list.join('\n'), false, 65_536)));
  expect(results.map(({ added }) => added).reduce((sum, added) => sum + added)).toBe(5_000);
  expect(Object.keys(await ranks('many-%'))).toHaveLength(5_000);
});

test('an import does not change data of observations', async () => {
  await database.owner.transaction((transaction) => commitDemoStore(transaction, URLS, T0, randomBytes));
  const read = () => pool.query(`SELECT storefront_id, state, profile FROM stores WHERE domain = 'example.com'`);
  const before = await read();
  expect(await importText('example.com,11')).toMatchObject({ added: 0, ranked: 1 });
  expect(await read()).toEqual(before);
});

test('profiles are rendered again with other URLs', async () => {
  await database.owner.transaction((transaction) => commitDemoStore(transaction, URLS, T0, randomBytes));
  const urlOf = async () => {
    const [row] = await pool.query<{ url: string }>(
      `SELECT profile::json ->> 'profile_url' AS url FROM stores WHERE domain = 'example.com'`,
    );
    return row?.url;
  };
  expect(await urlOf()).toBe('https://example.com/stores/example.com');
  expect(await renderProfiles(pool, { ...URLS, console_url: 'https://new.example.com' }, () => {})).toBe(
    await countProfiles(pool),
  );
  expect(await urlOf()).toBe('https://new.example.com/stores/example.com');
});

test('the denylist returns whether a domain was on it', async () => {
  expect([await denyDomain(pool, 'denied.com', 'asked for it'), await denyDomain(pool, 'denied.com', 'court order')]).toEqual([
    true,
    false,
  ]);
  expect(await readDenylist(pool)).toEqual([{ domain: 'denied.com', reason: 'court order', created_at: expect.any(Number) }]);
  expect([await allowDomain(pool, 'denied.com'), await allowDomain(pool, 'denied.com')]).toEqual([true, false]);
});
