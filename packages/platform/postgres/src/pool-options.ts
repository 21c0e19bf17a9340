import type { Secret } from '@vitrine/config/secret';
import type pg from 'pg';
import { COLUMN_TYPES } from './column-types.ts';
import { addressOf } from './dsn.ts';

export interface PostgresPoolOptions {
  readonly dsn: Secret;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
  readonly maxConnections?: number;
  /** Calls that may wait for a connection; beyond it they fail at once. */
  readonly maxWaiting?: number;
  /** How long a call waits for a connection, and a connection for its server. */
  readonly connectTimeoutMs?: number;
  readonly statementTimeoutMs?: number;
  /** How long a statement waits for a lock. */
  readonly lockTimeoutMs?: number;
  /** How long a transaction may wait for its process. */
  readonly idleTransactionTimeoutMs?: number;
  /** After how long an unused connection is closed. */
  readonly idleTimeoutMs?: number;
  /** Whether a transaction pooler such as PgBouncer is in between: then statements have no names, and timeouts are set for each
   *  transaction instead of each connection. */
  readonly throughPooler?: boolean;
  /** Called before each statement, BEGIN, COMMIT and ROLLBACK among them; what it throws is the statement's error. For tests. */
  readonly beforeStatement?: (text: string) => void;
}

export type PoolSettings = Required<PostgresPoolOptions>;

const DEFAULTS = {
  maxConnections: 10,
  maxWaiting: 1_024,
  connectTimeoutMs: 5_000,
  statementTimeoutMs: 10_000,
  lockTimeoutMs: 2_000,
  idleTransactionTimeoutMs: 10_000,
  idleTimeoutMs: 30_000,
  throughPooler: false,
  beforeStatement: () => {},
} as const;

/** How much later than the server we give up on a statement: it matters only where the server cannot be reached any more. */
const READ_TIMEOUT_EXTRA_MS = 5_000;
const KEEP_ALIVE_AFTER_MS = 10_000;

/** Faults: `invalid_dsn`. */
export function poolSettings(options: PostgresPoolOptions): PoolSettings {
  addressOf(options.dsn);
  return { ...DEFAULTS, ...options };
}

/** The driver's settings of one connection. */
export function clientConfig(settings: PoolSettings): pg.ClientConfig {
  const { dsn, applicationName, connectTimeoutMs, throughPooler } = settings;
  return {
    connectionString: dsn.reveal(),
    application_name: applicationName,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    types: COLUMN_TYPES,
    // A pooler refuses what it does not know of the settings that a connection starts with.
    ...(throughPooler ? {} : sessionTimeouts(settings)),
  };
}

/** After how long a statement without a response has failed. */
export function readTimeoutMs({ statementTimeoutMs }: PoolSettings): number {
  return statementTimeoutMs + READ_TIMEOUT_EXTRA_MS;
}

function sessionTimeouts({ statementTimeoutMs, lockTimeoutMs, idleTransactionTimeoutMs }: PoolSettings) {
  return {
    statement_timeout: statementTimeoutMs,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: idleTransactionTimeoutMs,
  };
}

/** The same timeouts for one transaction; '' where the connection has them. */
export function transactionTimeouts(settings: PoolSettings): string {
  if (!settings.throughPooler) return '';
  return Object.entries(sessionTimeouts(settings))
    .map(([name, ms]) => `SET LOCAL ${name} = ${Math.trunc(ms)};`)
    .join('');
}
