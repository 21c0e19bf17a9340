import { Fault } from '@vitrine/faults/fault';
import type { PostgresPoolOptions } from '@vitrine/postgres/pool-options';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { waitForDatabase } from '@vitrine/postgres/wait-for-database';
import type { Logger } from '@vitrine/telemetry/logger';

/** Waits until the database responds and has its tables. Until then the gateway does not listen, so that no load balancer sends it requests whose
 *  keys it could not check. Faults: `start_aborted` when `signal` is aborted first. */
export async function awaitDatabase(options: PostgresPoolOptions, logger: Logger, signal: AbortSignal): Promise<void> {
  await using pool = new PostgresPool({ ...options, maxConnections: 1 });
  const isReached = await waitForDatabase(pool, {
    logger,
    signal,
    probe: (of) => of.query('SELECT generation FROM plan_generation'),
    isAwaited: () => true,
  });
  if (!isReached) throw new Fault('start_aborted', { say: 'stopped while waiting for the database' });
}
