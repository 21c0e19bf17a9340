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

/** Gateways that share a database go by its clock, read over `pool` or a connection of its own. */
export async function openClocks(
  storage: StorageSettings,
  pool: PostgresPool | undefined,
  logger: Logger,
  opened: AsyncDisposableStack,
): Promise<Clocks> {
  const options = postgresOptions(storage, 'clock');
  if (options === undefined) return { clock: Date.now, steadyClock };
  const [{ PostgresPool }, { DatabaseClock }] = await Promise.all([
    import('@vitrine/postgres/postgres-pool'),
    import('@vitrine/postgres/database-clock'),
  ]);
  const connection = pool ?? opened.use(new PostgresPool({ ...options, maxConnections: 1 }));
  return { clock: opened.use(new DatabaseClock(connection, { logger }).keepReading()).now, steadyClock };
}
