import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { openTcpProxy } from '@vitrine/postgres/testing/tcp-proxy';
import { randomBytes } from 'node:crypto';
import { DEFAULT_PLAN_LIMITS, allowanceOf } from '../default-plan-limits.ts';
import { createId } from '../identifiers.ts';
import type { PlanSlug } from '../resources/enumerations.ts';
import { addKey, storeDatabase, type StoreDatabase } from '../testing/store-database.ts';
import { T0 } from '../testing/store-states.ts';
import type { LedgerEntry } from './charge-usage.ts';
import { requestFingerprint } from './idempotency.ts';
import { runMetered, runMeteredRead, type MeteredRequest, type MeteredResult, isOutcomeLost } from './run-metered.ts';
import { readUsageByKey, reconcileUsage } from './usage-reports.ts';

let database: StoreDatabase;
let replicas: [PostgresPool, PostgresPool];
let ids: { readonly workspace_id: string; readonly key_id: string };
let n = 0;
beforeAll(async () => {
  database = await storeDatabase();
  replicas = [database.as('vitrine_store_api'), database.as('vitrine_store_api')];
});
afterAll(async () => database[Symbol.asyncDispose]());
beforeEach(async () => {
  ids = await addKey(database, (n += 1));
});

const cached = (...domains: string[]): LedgerEntry[] => domains.map((domain) => ({ domain, unit: 'lookup_cached' }));
const live = (...domains: string[]): LedgerEntry[] => domains.map((domain) => ({ domain, unit: 'lookup_live' }));
const resultOf = (entries: readonly LedgerEntry[], body = '{}'): MeteredResult => ({
  response: { status: 200, etag: '"e"', body },
  entries,
});

interface TestRequest {
  readonly plan?: PlanSlug;
  readonly key?: string;
  readonly input?: unknown;
  readonly operation_id?: string;
  readonly replica?: PostgresPool;
}

function requestOf({ plan = 'free', key, input = 1, operation_id }: TestRequest): MeteredRequest {
  const operation = operation_id ?? createId('op', T0, randomBytes);
  const allowance = allowanceOf(plan, DEFAULT_PLAN_LIMITS[plan]);
  const { workspace_id } = ids;
  const fingerprint = requestFingerprint('enrichStores', '/v1/stores/enrich', input);
  return {
    charge: { ...ids, operation_id: operation, period_starts_at: T0, allowance },
    idempotency:
      key === undefined ? undefined : { workspace_id, idempotency_key: key, fingerprint, request_id: operation, domains: [] },
  };
}
const run = (result: MeteredResult, request: TestRequest = {}) =>
  runMetered(request.replica ?? replicas[0], requestOf(request), async () => result);
const ledgerOf = () =>
  database.owner.query('SELECT domain, unit FROM ledger WHERE workspace_id = $1 ORDER BY 2, 1', [ids.workspace_id]);
const keyUsage = () => readUsageByKey(replicas[0], ids.workspace_id, T0);

describe('units', () => {
  test('are in the ledger and in the counters of workspace and key when the request is over', async () => {
    const outcome = await run(resultOf([...cached('a.com', 'b.com'), ...live('c.com')]), { plan: 'pro' });
    const used = { lookup_cached: 2, lookup_live: 1, history_query: 0, refresh_requested: 0 };
    expect(outcome).toEqual({ kind: 'completed', response: resultOf([]).response, used });
    expect(await ledgerOf()).toEqual([...cached('a.com', 'b.com'), ...live('c.com')]);
    expect(await keyUsage()).toEqual([{ key_id: ids.key_id, label: `key ${n}`, ...used }]);
  });

  test('of a batch beyond the allowance are not billed at all, and the next that fits is', async () => {
    await run(resultOf(cached(...Array.from({ length: 20 }, (_, i) => `${i}.com`))));
    expect(await run(resultOf(cached('a.com', 'b.com', 'c.com', 'd.com', 'e.com', 'f.com')))).toEqual({
      kind: 'allowance_exhausted',
    });
    expect(await ledgerOf()).toHaveLength(20);
    expect(await run(resultOf(cached('a.com', 'b.com', 'c.com', 'd.com', 'e.com')))).toMatchObject({
      used: { lookup_cached: 25 },
    });
    expect((await run(resultOf(cached('a.com')))).kind).toBe('allowance_exhausted');
    expect(await run(resultOf([]))).toMatchObject({ kind: 'completed', used: undefined });
  });

  test('of live refreshes have a separate allowance, which does not stop lookups', async () => {
    expect((await run(resultOf([...cached('a.com'), ...live('a.com')]))).kind).toBe('allowance_exhausted');
    expect(await ledgerOf()).toEqual([]);
    const lookups = await run(resultOf([...cached('a.com'), ...live('a.com')]), { plan: 'pro' });
    expect(lookups).toMatchObject({ used: { lookup_cached: 1, lookup_live: 1 } });
    // The plan was lowered. An already exceeded unit is no reason to refuse others.
    expect(await run(resultOf(cached('b.com')))).toMatchObject({ used: { lookup_cached: 2, lookup_live: 1 } });
  });

  test('of a partner are metered without a stop', async () => {
    const domains = Array.from({ length: 100 }, (_, i) => `${i}.com`);
    expect(await run(resultOf(cached(...domains)), { plan: 'partner' })).toMatchObject({ used: { lookup_cached: 100 } });
  });

  test('of one operation are billed once', async () => {
    const operation_id = createId('op', T0, randomBytes);
    await run(resultOf(cached('a.com')), { operation_id });
    await expect(run(resultOf(cached('a.com')), { operation_id })).rejects.toMatchObject({ code: '23505' });
    expect(await keyUsage()).toMatchObject([{ lookup_cached: 1 }]);
  });

  test('are not billed when the work fails, and its writes are rolled back', async () => {
    const failing = runMetered(replicas[0], requestOf({ key: 'key-0000' }), async (transaction) => {
      await transaction.execute(`INSERT INTO domain_denylist (domain, reason) VALUES ('failed.com', '')`);
      throw new Error('the work failed');
    });
    await expect(failing).rejects.toThrow('the work failed');
    expect(await replicas[0].query(`SELECT FROM domain_denylist WHERE domain = 'failed.com'`)).toEqual([]);
    expect(await run(resultOf([]), { key: 'key-0000' })).toMatchObject({ kind: 'completed' });
  });
});

describe('a read-only request', () => {
  const read = (entries: readonly LedgerEntry[], request: TestRequest = {}, beforeCommit?: () => void) =>
    runMeteredRead(replicas[0], { ...requestOf(request), ...(beforeCommit && { beforeCommit }) }, async () => resultOf(entries));

  test('is billed completely or not at all, and replayed by its key', async () => {
    expect(await read(cached(...Array.from({ length: 20 }, (_, i) => `${i}.com`)))).toMatchObject({
      used: { lookup_cached: 20 },
    });
    expect(await read(cached('a.com', 'b.com', 'c.com', 'd.com', 'e.com', 'f.com'))).toEqual({ kind: 'allowance_exhausted' });
    expect(await read([])).toMatchObject({ kind: 'completed', used: undefined });
    expect(await read(cached('a.com'), { key: 'key-0000' })).toMatchObject({ kind: 'completed', used: { lookup_cached: 21 } });
    expect((await read(cached('a.com'), { key: 'key-0000' })).kind).toBe('replayed');
    expect(await ledgerOf()).toHaveLength(21);
    expect(await keyUsage()).toMatchObject([{ lookup_cached: 21 }]);
  });

  test.each([[undefined], ['key-0000']])('whose client has left is not billed (idempotency key %s)', async (key) => {
    const leave = () => {
      throw new Error('the client has left');
    };
    await expect(read(cached('a.com'), key === undefined ? {} : { key }, leave)).rejects.toThrow('the client has left');
    expect(await ledgerOf()).toEqual([]);
    expect(await keyUsage()).toEqual([]);
  });
});

const key = 'key-1234';
describe('a request with an idempotency key', () => {
  test('is replayed byte for byte within 24 hours, and bills nothing again', async () => {
    const body = '{"b": 1,\n"a":"é"}';
    const operation_id = createId('op', T0, randomBytes);
    await run(resultOf(cached('a.com'), body), { key, operation_id });
    const replay = await run(resultOf(cached('a.com'), '{"other":1}'), { key });
    expect(replay).toEqual({ kind: 'replayed', response: { request_id: operation_id, status: 200, etag: '"e"', body } });
    expect(await ledgerOf()).toHaveLength(1);
    const age = (interval: string) =>
      database.owner.execute('UPDATE idempotency_keys SET created_at = now() - $2::interval WHERE idempotency_key = $1', [
        key,
        interval,
      ]);
    await age('23:59');
    expect(await run(resultOf(cached('b.com')), { key })).toMatchObject({ kind: 'replayed' });
    await age('24:00');
    expect(await run(resultOf(cached('b.com')), { key })).toMatchObject({ kind: 'completed' });
  });

  test('with another input is a conflict', async () => {
    await run(resultOf(cached('a.com')), { key });
    expect(await run(resultOf(cached('a.com')), { key, input: 2 })).toEqual({ kind: 'conflict' });
  });

  test('of another workspace is independent', async () => {
    await run(resultOf(cached('a.com')), { key });
    ids = await addKey(database, (n += 1));
    expect(await run(resultOf(cached('a.com')), { key, input: 2 })).toMatchObject({ kind: 'completed' });
  });

  test('beyond the allowance is not stored: it can complete later', async () => {
    expect((await run(resultOf(live('a.com')), { key })).kind).toBe('allowance_exhausted');
    expect((await run(resultOf(live('a.com')), { key, plan: 'pro' })).kind).toBe('completed');
  });

  test('waits for the request with the key on another replica, and replays its response', async () => {
    const started = Promise.withResolvers<void>();
    const proceed = Promise.withResolvers<void>();
    const first = runMetered(replicas[0], requestOf({ key }), async () => {
      started.resolve();
      await proceed.promise;
      return resultOf(cached('a.com'), '"first"');
    });
    await started.promise;
    const second = run(resultOf(cached('a.com'), '"second"'), { key, replica: replicas[1] });
    proceed.resolve();
    expect(await Promise.all([first, second])).toMatchObject([
      { kind: 'completed', response: { body: '"first"' } },
      { kind: 'replayed', response: { body: '"first"' } },
    ]);
  });
});

describe('a connection that breaks while a request is billed', () => {
  /** A server may take its time to notice that a connection has ended. */
  const PATIENT = { statementTimeoutMs: 120_000, lockTimeoutMs: 120_000 };
  // The statement as sent, so that `READ COMMITTED` does not match.
  const COMMIT = 'COMMIT\0';
  const entries = cached('a.com', 'b.com');
  const transaction = (pool: PostgresPool, request: TestRequest) =>
    runMetered(pool, requestOf(request), async () => resultOf(entries));
  const statement = (pool: PostgresPool, request: TestRequest) =>
    runMeteredRead(pool, requestOf(request), async () => resultOf(entries));

  test.each([
    ['the COMMIT was done', transaction, COMMIT, 'response', {}],
    ['the COMMIT was done, with a key', transaction, COMMIT, 'response', { key }],
    ['the COMMIT did not arrive', transaction, COMMIT, 'request', {}],
    ['the COMMIT did not arrive, with a key', transaction, COMMIT, 'request', { key }],
    ['the statement was done', statement, 'charge_usage', 'response', {}],
    ['the statement did not arrive', statement, 'charge_usage', 'request', {}],
  ] as const)('it is billed once if it completes and not at all if it does not: %s', async (_, send, marker, what, request) => {
    await using proxy = await openTcpProxy(database.dsnOf('vitrine_store_api'));
    const pool = database.as('vitrine_store_api', { dsn: proxy.dsn, ...PATIENT });
    // This uses up the allowance, so a second charge would not fit.
    await run(resultOf(cached(...Array.from({ length: 23 }, (__, i) => `${i}.com`))));
    proxy.cutAt(marker, what);
    const isLost = marker === COMMIT && what === 'request';
    const sent = send(pool, request);
    if (isLost) expect(isOutcomeLost(await sent.catch((error: unknown) => error))).toBe(true);
    else expect(await sent).toMatchObject({ kind: 'completed', used: { lookup_cached: 25 } });
    expect(await ledgerOf()).toHaveLength(isLost ? 23 : 25);
    if ('key' in request) {
      expect((await send(pool, request)).kind).toBe(isLost ? 'completed' : 'replayed');
      expect(await ledgerOf()).toHaveLength(25);
    }
    expect(await keyUsage()).toMatchObject([{ lookup_cached: isLost && !('key' in request) ? 23 : 25 }]);
    await pool[Symbol.asyncDispose]();
  });

  test.each([
    ['a transaction with a key', transaction, COMMIT, { key }, 'the same Idempotency-Key'],
    ['a transaction', transaction, COMMIT, {}, 'GET /v1/usage'],
    ['a statement', statement, 'charge_usage', {}, 'GET /v1/usage'],
  ] as const)('and the database stays away the fault says how to find out: %s', async (_, send, marker, request, say) => {
    await using proxy = await openTcpProxy(database.dsnOf('vitrine_store_api'));
    const pool = database.as('vitrine_store_api', { dsn: proxy.dsn, ...PATIENT });
    proxy.cutAt(marker, 'response', true);
    const found = { code: 'billing_unknown', say: expect.stringContaining(say) };
    await expect(send(pool, request)).rejects.toMatchObject(found);
    await proxy.open();
    expect(await keyUsage()).toMatchObject([{ lookup_cached: 2 }]);
    if ('key' in request) expect((await send(pool, request)).kind).toBe('replayed');
    expect(await ledgerOf()).toHaveLength(2);
    await pool[Symbol.asyncDispose]();
  });
});

test('64 clients on two replicas spend exactly the allowance; counters, ledger and responses agree', async () => {
  const keys = Array.from({ length: 16 }, (_, i) => `client-${i}`);
  const outcomes = await Promise.all(
    Array.from({ length: 64 }, (_, i) => {
      // 16 keys that four clients share each, with three units: 16 of 25 units fit at most eight times.
      const request = { key: keys[i % 16] ?? '', input: i % 16, replica: replicas[i % 2] ?? replicas[0] };
      return run(resultOf(cached(`${i % 16}-a.com`, `${i % 16}-b.com`, `${i % 16}-c.com`)), request);
    }),
  );
  const completed = outcomes.filter(({ kind }) => kind === 'completed').length;
  expect(completed).toBe(8);
  expect(await ledgerOf()).toHaveLength(24);
  expect(await keyUsage()).toMatchObject([{ lookup_cached: 24 }]);
  expect(outcomes.filter(({ kind }) => kind === 'replayed')).toHaveLength(8 * 3);
});

test('reconcile finds no difference after all of this, but finds a manipulated counter', async () => {
  expect(await reconcileUsage(replicas[0])).toEqual([]);
  await run(resultOf(cached('a.com')));
  await database.owner.execute('UPDATE usage_counters SET lookup_live = 7 WHERE workspace_id = $1', [ids.workspace_id]);
  const used = { lookup_cached: 1, lookup_live: 0, history_query: 0, refresh_requested: 0 };
  expect(await reconcileUsage(replicas[0])).toEqual([
    { workspace_id: ids.workspace_id, starts_at: T0, counters: { ...used, lookup_live: 7 }, by_key: used, ledger: used },
  ]);
  await database.owner.execute('DELETE FROM usage_counters WHERE workspace_id = $1', [ids.workspace_id]);
  expect(await reconcileUsage(replicas[0])).toMatchObject([{ counters: { lookup_cached: 0 }, ledger: { lookup_cached: 1 } }]);
});
