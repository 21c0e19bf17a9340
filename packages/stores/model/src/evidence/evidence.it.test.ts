import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { VOCABULARY } from '@vitrine/registry/vocabulary';
import { randomBytes } from 'node:crypto';
import { importVocabulary } from '../import-vocabulary.ts';
import { storeDatabase, type StoreDatabase } from '../testing/store-database.ts';
import { DAY_MS, T0 } from '../testing/store-states.ts';
import { CANDIDATE_FILTERS, readCandidates, resolveCandidate, type CandidateQuery } from './candidates.ts';
import { evidenceInput } from './evidence-input.ts';
import { ingestEvidence, type EvidenceReceipt } from './ingest-evidence.ts';

let database: StoreDatabase;
let pool: PostgresPool;
beforeAll(async () => {
  database = await storeDatabase();
  pool = database.as('vitrine_store_api');
  await importVocabulary(pool, VOCABULARY);
});
afterAll(async () => database[Symbol.asyncDispose]());

const CAPTURE = {
  source_url: 'https://vendor.example.com/case-studies/1',
  captured_at: T0,
  claims: [
    { domain: 'https://www.Shop-One.com/about', technology_slug: 'klaviyo', claim: 'uses Klaviyo for e-mail' },
    { claim: 'a skate brand moved to Shopify', technology_slug: 'shopify' },
  ],
};
const parse = (input: unknown) => evidenceInput(T0).parse(input);
const ingest = (idempotency_key: string, input: unknown = CAPTURE) =>
  pool.transaction((transaction) =>
    ingestEvidence(transaction, { input: parse(input), idempotency_key, at: T0, random: randomBytes }),
  );
const receiptOf = async (key: string, input?: unknown): Promise<EvidenceReceipt> => {
  const outcome = await ingest(key, input);
  if (outcome.kind !== 'received' && outcome.kind !== 'replayed') throw new Error(outcome.kind);
  return outcome.receipt;
};
const resolve = (id: string, domain: string | null) =>
  pool.transaction((transaction) => resolveCandidate(transaction, { id, domain, at: T0, random: randomBytes }));
const read = (query: Partial<CandidateQuery>) =>
  readCandidates(pool, { status: null, domain: null, technology_slug: null, after: null, limit: 100, ...query });
const counts = async () => {
  const [row] = await database.owner.query(
    'SELECT (SELECT count(*) FROM evidence) AS evidence, (SELECT count(*) FROM candidates) AS candidates',
  );
  return row;
};

describe('ingesting evidence', () => {
  test('a retry replays the original receipt and creates nothing; the key with other evidence is a conflict', async () => {
    const first = await ingest('key-00000001');
    expect(first).toMatchObject({
      kind: 'received',
      receipt: { received_at: T0, candidate_ids: [expect.any(String), expect.any(String)] },
    });
    const before = await counts();
    const sameMeaning = { ...CAPTURE, claims: [{ ...CAPTURE.claims[0], domain: 'shop-one.com' }, CAPTURE.claims[1]] };
    for (const input of [CAPTURE, sameMeaning])
      expect(await ingest('key-00000001', input)).toEqual({ ...first, kind: 'replayed' });
    expect(await ingest('key-00000001', { ...CAPTURE, captured_at: T0 - DAY_MS })).toEqual({ kind: 'conflict' });
    expect(await counts()).toEqual(before);
  });

  test('one of several equal concurrent requests is processed, and all get its receipt', async () => {
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => ingest('key-at-once')));
    expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual(['received', ...Array<string>(7).fill('replayed')].toSorted());
    const ids = new Set(outcomes.map((outcome) => ('receipt' in outcome ? outcome.receipt.id : '')));
    expect(ids.size).toBe(1);
  });

  test('a technology outside the vocabulary is reported with its claim, and nothing is stored', async () => {
    const before = await counts();
    const claims = [CAPTURE.claims[0], { claim: 'uses it', technology_slug: 'no-such-technology' }];
    expect(await ingest('key-unknown', { ...CAPTURE, claims })).toEqual({ kind: 'unknown_technology', claim: 1 });
    expect(await counts()).toEqual(before);
    expect((await ingest('key-unknown')).kind).toBe('received');
  });

  test.each<[string, object, string]>([
    ['no claims', { claims: [] }, 'claims'],
    ['101 claims', { claims: Array.from({ length: 101 }, () => ({ claim: 'x' })) }, 'claims'],
    ['an empty claim', { claims: [{ claim: ' ' }] }, 'claims.0.claim'],
    ['a domain that is none', { claims: [{ claim: 'x', domain: 'localhost' }] }, 'claims.0.domain'],
    ['a source that is no web page', { source_url: 'javascript:alert(1)' }, 'source_url'],
    ['a capture from the future', { captured_at: T0 + DAY_MS }, 'captured_at'],
    ['an unknown field', { extra: 1 }, ''],
  ])('%s is refused with the name of its field', (_name, change, path) => {
    const result = evidenceInput(T0).safeParse({ ...CAPTURE, ...change });
    expect(result.error?.issues.map((issue) => issue.path.join('.'))).toEqual([path]);
  });
});

describe('candidates', () => {
  test('each claim is a candidate with a canonical domain, and a page begins after the last of the previous page', async () => {
    const { candidate_ids: ids } = await receiptOf('key-candidates');
    const all = await read({});
    const mine = all.filter(({ id }) => ids.includes(id));
    expect(mine.find(({ domain }) => domain !== null)).toMatchObject({
      domain: 'shop-one.com',
      technology_slug: 'klaviyo',
      claim: 'uses Klaviyo for e-mail',
      source_url: CAPTURE.source_url,
      captured_at: T0,
      status: 'pending',
    });
    const pages = [];
    for (let after: string | null = null; ;) {
      const page = await read({ after, limit: 3 });
      pages.push(...page);
      if (page.length < 3) break;
      after = page.at(-1)?.id ?? null;
    }
    expect(pages).toEqual(all);
    expect(await read({ domain: 'shop-one.com', technology_slug: 'shopify' })).toEqual([]);
  });

  test('a resolved one belongs to a domain, which is added to the corpus; the decision is final', async () => {
    const [, id = ''] = (await receiptOf('key-resolve')).candidate_ids;
    expect(await resolve(id, 'skate-shop.com')).toMatchObject({
      kind: 'decided',
      candidate: { status: 'resolved', domain: 'skate-shop.com' },
    });
    expect(await resolve(id, 'skate-shop.com')).toMatchObject({ kind: 'decided' });
    expect(await resolve(id, 'other-shop.com')).toMatchObject({ kind: 'conflict', candidate: { domain: 'skate-shop.com' } });
    expect(await resolve(id, null)).toMatchObject({ kind: 'conflict' });
    const stores = await pool.query(
      `SELECT domain, state, profile FROM stores WHERE domain IN ('skate-shop.com', 'other-shop.com')`,
    );
    expect(stores).toEqual([{ domain: 'skate-shop.com', state: 'candidate', profile: null }]);
    expect((await read({ status: 'resolved' })).map((candidate) => candidate.id)).toEqual([id]);
  });

  test('a rejected one keeps what it claimed; unknown ones and denied domains are outcomes', async () => {
    const [id = '', other = ''] = (await receiptOf('key-reject')).candidate_ids;
    expect(await resolve(id, null)).toMatchObject({ kind: 'decided', candidate: { status: 'rejected' } });
    expect(await resolve('cnd_unknown', 'a.com')).toEqual({ kind: 'unknown_candidate' });
    await pool.execute(`INSERT INTO domain_denylist (domain, reason) VALUES ('denied.com', 'asked for it')`);
    expect(await resolve(other, 'denied.com')).toEqual({ kind: 'denied_domain' });
    expect((await read({ status: 'pending' })).map((candidate) => candidate.id)).toContain(other);
  });

  test.each(CANDIDATE_FILTERS)('the filter %s finds the candidates with its value, and only these', async (filter) => {
    const [, id = ''] = (await receiptOf(`key-filter-${filter}`)).candidate_ids;
    await resolve(id, 'filtered-shop.com');
    const all = await read({});
    const values = new Set(all.map((candidate) => candidate[filter]).filter((value) => value !== null));
    expect(values.size).toBeGreaterThan(1);
    for (const value of values)
      expect(await read({ [filter]: value })).toEqual(all.filter((candidate) => candidate[filter] === value));
  });

  test('a store keeps its state when a candidate is resolved to it', async () => {
    await pool.execute(
      `INSERT INTO stores (storefront_id, domain, storefront_host, rank, state, state_as_of, is_ecommerce)
       VALUES ('sf_known', 'known-shop.com', 'www.known-shop.com', 7, 'active_storefront', now(), TRUE)`,
    );
    const [id = ''] = (await receiptOf('key-known')).candidate_ids;
    await resolve(id, 'known-shop.com');
    expect(await pool.query(`SELECT storefront_id, rank, state FROM stores WHERE domain = 'known-shop.com'`)).toEqual([
      { storefront_id: 'sf_known', rank: 7, state: 'active_storefront' },
    ]);
  });
});
