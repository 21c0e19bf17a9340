import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { storeDatabase, type StoreDatabase } from '@vitrine/stores/testing/store-database';
import type { RequestTarget } from '../scan/scan-ports.ts';
import { HostRateLimiter, type HostRateLimiterOptions } from './host-rate-limiter.ts';

let database: StoreDatabase;
beforeAll(async () => (database = await storeDatabase()));
afterAll(async () => database[Symbol.asyncDispose]());
beforeEach(async () => void (await database.owner.query('TRUNCATE request_turns')));

const signal = new AbortController().signal;
const at = (host: string, address = '203.0.113.1'): RequestTarget => ({ host, address });
/** The rate limiter of one replica. Its default interval is an hour, so that no pause of the machine is long enough. */
const turnsOf = (options: HostRateLimiterOptions = {}) =>
  new HostRateLimiter(database.as('vitrine_enrich'), { intervalMs: 3_600_000, ...options });
const rowsOf = () =>
  database.owner.query<{ target: string; next_at: number }>('SELECT target, next_at FROM request_turns ORDER BY target');

test('requests of one scan are an interval apart, whichever replica sends them', async () => {
  const intervalMs = 50;
  const replicas = [turnsOf({ intervalMs }), turnsOf({ intervalMs })];
  const turns: number[] = [];
  for (let i = 0; i < 6; i += 1) {
    expect(await replicas[i % 2]?.gateOf('scan-1', 'requested').waitTurn(at('a.com'), signal)).toBeUndefined();
    const [row] = await database.owner.query<{ turn: number; now: number }>(
      `SELECT next_at - interval '50 ms' AS turn, clock_timestamp() AS now FROM request_turns WHERE target = 'host:a.com'`,
    );
    // It is sent at its turn or later. A timer may fire some milliseconds early.
    expect((row?.now ?? 0) - (row?.turn ?? 0)).toBeGreaterThan(-5);
    turns.push(row?.turn ?? 0);
  }
  for (const [i, turn] of turns.entries()) if (i > 0) expect(turn - (turns[i - 1] ?? 0)).toBeGreaterThanOrEqual(intervalMs);
});

describe('one connection', () => {
  test.each([
    ['to a host', at('a.com'), at('A.com', '203.0.113.2')],
    ['to an address that hosts share', at('a.com'), at('b.com')],
    ['to the edge of a platform', at('a.com', '23.227.38.65'), at('b.com', '23.227.38.74')],
  ])('%s: a second scan is postponed until the first releases it', async (_, first, second) => {
    const [one, other] = [turnsOf({ intervalMs: 0 }), turnsOf({ intervalMs: 0 })];
    expect(await one.gateOf('scan-1', 'requested').waitTurn(first, signal)).toBeUndefined();
    const put = await other.gateOf('scan-2', 'requested').waitTurn(second, signal);
    expect(put?.delayedMs).toBeGreaterThanOrEqual(2_000);
    expect(other.counters.putOffs).toBe(1);
    await one.release('scan-1');
    expect(await other.gateOf('scan-2', 'requested').waitTurn(second, signal)).toBeUndefined();
  });

  test('unrelated hosts do not wait for each other', async () => {
    const turns = turnsOf();
    const targets = [
      at('a.com', '203.0.113.1'),
      at('b.com', '203.0.113.2'),
      at('c.com', '2001:db8:0:1::1'),
      at('d.com', '2001:db8:0:2::1'),
    ];
    const gates = targets.map((target, i) => turns.gateOf(`scan-${i}`, 'routine').waitTurn(target, signal));
    expect(await Promise.all(gates)).toEqual([undefined, undefined, undefined, undefined]);
  });

  test('exactly one of several concurrent scans gets the connection', async () => {
    const replicas = [turnsOf(), turnsOf()];
    const asks = Array.from({ length: 12 }, async (_, i) =>
      replicas[i % 2]?.gateOf(`scan-${i}`, 'requested').waitTurn(at(`shop-${i}.com`), signal),
    );
    expect((await Promise.all(asks)).filter((result) => result === undefined)).toHaveLength(1);
  });
});

test('postponed routine scans are spread out, so that each returns once; requested ones are not', async () => {
  const turns = turnsOf({ backlogMs: 600_000 });
  await turns.gateOf('scan-0', 'routine').waitTurn(at('a.com'), signal);
  const delays: number[] = [];
  for (let i = 1; i <= 4; i += 1)
    delays.push((await turns.gateOf(`scan-${i}`, 'routine').waitTurn(at(`shop-${i}.com`), signal))?.delayedMs ?? 0);
  // Less than five minutes pass between two requests.
  for (const [i, delay] of delays.entries()) expect(Math.round(delay / 600_000)).toBe(i + 1);
});

test('a turn too far in the future postpones a scan, unless it has the connection: then it waits', async () => {
  const turns = turnsOf({ maxWaitMs: 1_000 });
  const gate = turns.gateOf('scan-1', 'requested');
  await gate.waitTurn(at('a.com'), signal);
  await turns.release('scan-1');
  const put = await gate.waitTurn(at('a.com'), signal);
  expect(put?.delayedMs).toBeGreaterThan(1_000);
  await database.owner.execute(`UPDATE request_turns SET next_at = now(), holder = 'scan-1', held_until = 'infinity'`);
  expect(await gate.waitTurn(at('a.com'), signal)).toBeUndefined();
  const abort = new AbortController();
  const waiting = gate.waitTurn(at('a.com'), abort.signal);
  abort.abort(new Error('the deadline of the scan'));
  await expect(waiting).rejects.toThrow();
});

test('Crawl-delay sets the interval of a host, and Retry-After pauses the host and its edge', async () => {
  const turns = turnsOf({ intervalMs: 0 });
  const gate = turns.gateOf('scan-1', 'routine');
  await gate.slowDown(at('a.com'), 'crawl_delay', 30_000);
  await database.owner.execute('UPDATE request_turns SET next_at = now()');
  await gate.waitTurn(at('a.com'), signal);
  const [host, edge] = await rowsOf();
  expect([host?.target, edge?.target]).toEqual(['host:a.com', 'ip:203.0.113.1']);
  // Both were reserved by one statement, so the difference is the interval.
  expect((host?.next_at ?? 0) - (edge?.next_at ?? 0)).toBe(30_000);
  await gate.slowDown(at('a.com'), 'retry_after', 7_200_000);
  await turns.release('scan-1');
  const put = await turns.gateOf('scan-2', 'requested').waitTurn(at('b.com'), signal);
  expect(put?.delayedMs).toBeGreaterThan(3_600_000);
  expect(turns.counters.slowDowns).toBe(2);
});

test('unused targets are removed after an hour', async () => {
  const turns = turnsOf({ intervalMs: 0 });
  await turns.gateOf('scan-1', 'routine').waitTurn(at('a.com'), signal);
  await turns.gateOf('scan-2', 'routine').waitTurn(at('b.com', '203.0.113.9'), signal);
  await turns.release('scan-1');
  await database.owner.execute(`UPDATE request_turns SET next_at = now() - interval '61 minutes'`);
  expect(await turns.removeUnused()).toBe(2);
  expect((await rowsOf()).map(({ target }) => target)).toEqual(['host:b.com', 'ip:203.0.113.9']);
});
