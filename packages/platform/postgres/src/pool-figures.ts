import type { PostgresErrorClass } from './postgres-error.ts';

/** Counts of a pool since its start. */
export interface PoolCounters {
  /** Opened connections, and broken or discarded ones. */
  connectionsOpened: number;
  connectionsLost: number;
  statements: number;
  transactions: number;
  rollbacks: number;
  /** Calls that got a connection, and their total wait. */
  acquired: number;
  acquireMs: number;
  /** Failed statements and connections. */
  errors: Record<PostgresErrorClass, number>;
}

export function noCounts(): PoolCounters {
  const errors = { timeout: 0, connection: 0, contention: 0, constraint: 0, unknown: 0 };
  const connections = { connectionsOpened: 0, connectionsLost: 0, acquired: 0, acquireMs: 0 };
  return { ...connections, statements: 0, transactions: 0, rollbacks: 0, errors };
}

/** Counters and gauges of a pool, for the metrics of its service. */
export interface PoolFigures extends Readonly<PoolCounters> {
  readonly connections: number;
  readonly idleConnections: number;
  readonly maxConnections: number;
  /** Calls waiting for a connection. */
  readonly waiting: number;
}
