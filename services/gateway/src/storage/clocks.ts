import type { Logger } from '@vitrine/telemetry/logger';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { postgresOptions, type StorageSettings } from './storage-settings.ts';

const steadyClock = () => performance.now();

export interface Clocks {
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Milliseconds on a monotonic clock. */
  readonly steadyClock: () => number;
}

/** Gateways that share a database use its clock, read over `pool` or a separate connection. */
export async function openClocks(
  storage: StorageSettings,
  pool: PostgresPool | undefined,
  logger: Logger,
  opened: AsyncDisposableStack,
): Promise<Clocks> {
  const options = postgresOptions(storage, 'clock');
  if (options === undefined) return { clock: Date.now, steadyClock };
  const { DatabaseClock, PostgresPool } = await databaseModules();
  const connection = pool ?? opened.use(new PostgresPool({ ...options, maxConnections: 1 }));
  return { clock: opened.use(new DatabaseClock(connection, { logger }).keepReading()).now, steadyClock };
}

/** The same clock for a command, read once. */
export async function readClock(storage: StorageSettings, logger: Logger): Promise<Clocks['clock']> {
  const options = postgresOptions(storage, 'clock');
  if (options === undefined) return Date.now;
  const { DatabaseClock, PostgresPool } = await databaseModules();
  await using pool = new PostgresPool({ ...options, maxConnections: 1 });
  const clock = new DatabaseClock(pool, { logger });
  // An unavailable database is reported by the command's own work.
  await clock.read().catch(() => {});
  return clock.now;
}

/** Loaded only when needed, because a gateway on SQLite starts without them. */
async function databaseModules() {
  const [{ PostgresPool }, { DatabaseClock }] = await Promise.all([
    import('@vitrine/postgres/postgres-pool'),
    import('@vitrine/postgres/database-clock'),
  ]);
  return { PostgresPool, DatabaseClock };
}
