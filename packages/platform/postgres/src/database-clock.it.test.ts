import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Secret } from '@vitrine/config/secret';
import { ownPostgresServer } from '@vitrine/testkit/postgres-server';
import { DatabaseClock } from './database-clock.ts';
import { PostgresPool } from './postgres-pool.ts';

const DAY_MS = 86_400_000;

let pool: PostgresPool;
let dsn: Secret;
beforeAll(async () => {
  dsn = new Secret(await ownPostgresServer());
  pool = new PostgresPool({ dsn, applicationName: 'test', maxConnections: 1 });
});
afterAll(async () => pool[Symbol.asyncDispose]());

function clockOf(aheadMs: number, database = pool) {
  const lines: Readonly<Record<string, unknown>>[] = [];
  const steady = { ms: 1_000 };
  const clock = new DatabaseClock(database, {
    logger: { warn: (fields) => void lines.push(fields) },
    processClock: () => Date.now() + aheadMs,
    steadyClock: () => steady.ms,
  });
  return { clock, lines, steady };
}

test.each([40 * DAY_MS, -40 * DAY_MS])(
  'a process whose clock is %d ms ahead goes by the database, and says so once',
  async (aheadMs) => {
    const { clock, lines, steady } = clockOf(aheadMs);
    expect(Math.abs(clock.now() - Date.now() - aheadMs)).toBeLessThan(DAY_MS);
    const before = Date.now();
    await clock.read();
    await clock.read();
    const read = clock.now();
    // The database runs on this machine.
    expect([read >= before - 1, read <= Date.now()]).toEqual([true, true]);
    steady.ms += 5_000;
    expect(clock.now()).toBe(read + 5_000);
    expect(lines).toEqual([{ ahead_ms: expect.any(Number), next_step: expect.stringContaining('NTP') }]);
    expect(Math.abs(Number(lines[0]?.['ahead_ms']) - aheadMs)).toBeLessThan(DAY_MS);
  },
);

test('a process with a correct clock logs nothing', async () => {
  const { clock, lines } = clockOf(0);
  await clock.read();
  expect(lines).toEqual([]);
});

test('while the database is unavailable the last reading is extrapolated', async () => {
  const lost = new PostgresPool({ dsn, applicationName: 'test', maxConnections: 1 });
  const { clock, steady } = clockOf(40 * DAY_MS, lost);
  await clock.read();
  const read = clock.now();
  await lost[Symbol.asyncDispose]();
  await expect(clock.read()).rejects.toThrow();
  steady.ms += 60_000;
  expect(clock.now()).toBe(read + 60_000);
});
