import { counter, gauge, type Reading } from '@vitrine/telemetry/metrics/instrument';
import type { PoolFigures } from './pool-figures.ts';

const POOL = ['pool'];

/** Metrics of connection pools, by name. */
export const POOL_INSTRUMENTS = {
  connections: gauge('svc.postgres.connections', '{connection}', 'Open connections to Postgres.', POOL),
  limit: gauge('svc.postgres.connection_limit', '{connection}', 'Maximum of open connections to Postgres.', POOL),
  waiting: gauge('svc.postgres.waiting', '{call}', 'Calls waiting for a connection to Postgres.', POOL),
  acquired: counter('svc.postgres.acquired_total', '{call}', 'Calls that got a connection to Postgres.', POOL),
  acquireWait: counter('svc.postgres.acquire_wait_seconds_total', 's', 'Time that calls waited for a connection.', POOL),
  lost: counter('svc.postgres.connections_lost_total', '{connection}', 'Connections that broke or were discarded.', POOL),
  errors: counter('svc.postgres.errors_total', '{error}', 'Failed statements and connections, by class.', [
    ...POOL,
    'error_class',
  ]),
};

/** The values of `POOL_INSTRUMENTS` by pool name. */
export function poolReadings(
  pools: Readonly<Record<string, PoolFigures>>,
): Readonly<Record<keyof typeof POOL_INSTRUMENTS, Reading>> {
  const entries = Object.entries(pools);
  const each = (read: (figures: PoolFigures) => number): Reading =>
    entries.map(([pool, figures]) => [{ pool }, read(figures)] as const);
  return {
    connections: each(({ connections }) => connections),
    limit: each(({ maxConnections }) => maxConnections),
    waiting: each(({ waiting }) => waiting),
    acquired: each(({ acquired }) => acquired),
    acquireWait: each(({ acquireMs }) => acquireMs / 1_000),
    lost: each(({ connectionsLost }) => connectionsLost),
    errors: entries.flatMap(([pool, { errors }]) =>
      Object.entries(errors).map(([error_class, count]) => [{ pool, error_class }, count] as const),
    ),
  };
}
