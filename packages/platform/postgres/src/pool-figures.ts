import type { PostgresErrorClass } from './postgres-error.ts';

/** What a pool has done since its start. */
export interface PoolCounters {
  /** Connections that were opened, and those that broke or were given up. */
  connectionsOpened: number;
  connectionsLost: number;
  statements: number;
  transactions: number;
  rollbacks: number;
  /** Calls that got a connection, and for how long they waited altogether. */
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
  /** Calls that wait for a connection. */
  readonly waiting: number;
}
