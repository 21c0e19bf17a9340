import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { randomUUID } from 'node:crypto';
import type { Scope } from '../resources/enumerations.ts';
import { addKey, hashesOf, storeDatabase, type StoreDatabase } from '../testing/store-database.ts';
import { admitRequest, releaseRequest, type Admission, type AdmissionTimes } from './admit-request.ts';

let database: StoreDatabase;
let replicas: ReturnType<StoreDatabase['as']>[];
let n = 0;
beforeAll(async () => {
  database = await storeDatabase();
  replicas = [database.as('vitrine_store_api'), database.as('vitrine_store_api')];
});
afterAll(async () => database[Symbol.asyncDispose]());

/** Requests alternate between the replicas. */
let turn = 0;
function admit(key: number, scope: Scope | null = 'read:stores', times: AdmissionTimes = {}, lease_id: string = randomUUID()) {
  const replica = replicas[(turn += 1) % 2] as (typeof replicas)[number];
  return admitRequest(replica, { token: hashesOf(key), scope: scope ?? undefined, lease_id }, times);
}
const timeLeft = (admission: Admission | undefined) =>
  admission !== undefined && 'window_ends_in_ms' in admission ? admission.window_ends_in_ms : undefined;
const outcomesOf = (admissions: readonly Admission[]) =>
  Object.fromEntries([...Map.groupBy(admissions, ({ outcome }) => outcome)].map(([outcome, { length }]) => [outcome, length]));
const setLimits = (plan: string, limits: object) =>
  database.owner.execute('INSERT INTO plans (name, limits) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET limits = $2', [
    plan,
    JSON.stringify(limits),
  ]);

describe('a key', () => {
  test('that is known is admitted, with the data for responses', async () => {
    const ids = await addKey(database, (n += 1), { plan: 'free' });
    const admission = await admit(n);
    expect(admission).toMatchObject({
      outcome: 'admitted',
      key: {
        id: ids.key_id,
        label: `key ${n}`,
        prefix: 'svc_live_kkkk',
        environment: 'live',
        scopes: ['read:stores'],
        expires_at: null,
      },
      workspace: { id: ids.workspace_id, name: `workspace ${n}` },
      plan: { slug: 'free', limits: { rpm: 30, concurrency: 2, included: { lookup_cached: 25 } } },
      period: { used: { lookup_cached: 0, lookup_live: 0, history_query: 0, refresh_requested: 0 } },
      requests_left: 29,
      window_ends_in_ms: 60_000,
    });
  });

  test('that is unknown, revoked or expired is rejected at the next request', async () => {
    const { key_id } = await addKey(database, (n += 1));
    expect((await admit(9_999)).outcome).toBe('unknown_key');
    await database.owner.execute(`UPDATE api_keys SET expires_at = now() + interval '1 hour' WHERE id = $1`, [key_id]);
    expect((await admit(n)).outcome).toBe('admitted');
    await database.owner.execute(`UPDATE api_keys SET expires_at = now() WHERE id = $1`, [key_id]);
    expect(await admit(n)).toEqual({ outcome: 'expired_key' });
    await database.owner.execute('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [key_id]);
    expect(await admit(n)).toEqual({ outcome: 'revoked_key' });
  });

  test('without any scope is admitted only if none is required', async () => {
    await addKey(database, (n += 1), { scopes: [] });
    expect([(await admit(n, null)).outcome, (await admit(n)).outcome]).toEqual(['admitted', 'forbidden_scope']);
  });

  test('without the scope is rejected and holds no slot; without a required scope any key is admitted', async () => {
    await addKey(database, (n += 1), { plan: 'free', scopes: ['write:scans'] });
    const admissions = [await admit(n), await admit(n), await admit(n), await admit(n, null)];
    expect(outcomesOf(admissions)).toEqual({ forbidden_scope: 3, admitted: 1 });
    expect(admissions.at(-1)).toMatchObject({ requests_left: 26 });
  });

  test('has changed limits of its plan from the next request on', async () => {
    await addKey(database, (n += 1), { plan: 'partner' });
    const limits = { rpm: 1, concurrency: 1, freshnessDays: 1 };
    expect(await admit(n)).toMatchObject({ plan: { limits: { rpm: 600 } } });
    await setLimits('partner', limits);
    expect(await admit(n)).toMatchObject({ outcome: 'rate_limited', plan: { limits } });
    await database.owner.execute(`DELETE FROM plans WHERE name = 'partner'`);
  });
});

test('at most rpm requests a minute are admitted, concurrently over two replicas, and as many in the next minute', async () => {
  await addKey(database, (n += 1), { plan: 'growth' });
  await setLimits('growth', { rpm: 30, concurrency: 100 });
  const windowMs = 1_500;
  const request = () => admit(n, 'read:stores', { windowMs });
  const first = await request();
  const others = await Promise.all(Array.from({ length: 49 }, request));
  expect(outcomesOf([first, ...others])).toEqual({ admitted: 30, rate_limited: 20 });
  expect(first).toMatchObject({ requests_left: 29, window_ends_in_ms: windowMs });
  const [rejected] = others.filter((admission) => admission.outcome === 'rate_limited');
  expect(rejected).toMatchObject({ requests_left: 0 });
  expect(timeLeft(rejected)).toBeLessThan(windowMs);
  await waitUntil(async () => (await request()).outcome === 'admitted', { what: 'the next window' });
  expect(outcomesOf(await Promise.all(Array.from({ length: 30 }, request)))).toEqual({ admitted: 29, rate_limited: 1 });
});

test('at most concurrency requests are in flight over two replicas; a rejected one does not count for the minute', async () => {
  const { key_id } = await addKey(database, (n += 1), { plan: 'pro' });
  const leases = Array.from({ length: 20 }, () => randomUUID());
  const admissions = await Promise.all(leases.map((lease) => admit(n, 'read:stores', {}, lease)));
  expect(outcomesOf(admissions)).toEqual({ admitted: 5, concurrency_limited: 15 });
  expect(await admit(n)).toMatchObject({ outcome: 'concurrency_limited', requests_left: 115 });
  const held = leases.find((_, i) => admissions[i]?.outcome === 'admitted') ?? '';
  await releaseRequest(replicas[1] as (typeof replicas)[number], key_id, held);
  expect(outcomesOf([await admit(n), await admit(n)])).toEqual({ admitted: 1, concurrency_limited: 1 });
});

test('the slots of a dead process are free after the lease', async () => {
  await addKey(database, (n += 1), { plan: 'free' });
  const times = { leaseMs: 300 };
  expect(outcomesOf([await admit(n, null, times), await admit(n, null, times)])).toEqual({ admitted: 2 });
  expect((await admit(n, null, times)).outcome).toBe('concurrency_limited');
  await waitUntil(async () => (await admit(n, null, times)).outcome === 'admitted', { what: 'a free slot' });
});

test.each([
  [5, '2026-03-05T00:00:00Z', '2026-03-05T00:00:00Z'],
  [5, '2026-03-04T23:59:59Z', '2026-02-05T00:00:00Z'],
  [31, '2026-02-28T00:00:00Z', '2026-02-28T00:00:00Z'],
  [31, '2026-03-30T12:00:00Z', '2026-02-28T00:00:00Z'],
  [29, '2028-02-29T00:00:00Z', '2028-02-29T00:00:00Z'],
  [1, '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z'],
  [15, '2026-01-01T00:00:00Z', '2025-12-15T00:00:00Z'],
])('with the anchor day %i the billing period of %s starts at %s', async (anchor, at, start) => {
  const [row] = await database.owner.query('SELECT billing_period_start($1, $2) AS start', [anchor, new Date(at)]);
  expect(row).toEqual({ start: Date.parse(start) });
});
