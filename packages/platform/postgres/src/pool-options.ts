import type { Secret } from '@vitrine/config/secret';
import pg from 'pg';
import { addressOf } from './dsn.ts';

export interface PostgresPoolOptions {
  readonly dsn: Secret;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
  readonly maxConnections?: number;
  /** Maximum calls waiting for a connection. Further calls fail at once. */
  readonly maxWaiting?: number;
  /** How long a call waits for a connection, and a connection for its server. */
  readonly connectTimeoutMs?: number;
  readonly statementTimeoutMs?: number;
  /** How long a statement waits for a lock. */
  readonly lockTimeoutMs?: number;
  /** How long a transaction may be idle. */
  readonly idleTransactionTimeoutMs?: number;
  /** After how long an unused connection is closed. */
  readonly idleTimeoutMs?: number;
  /** Whether a transaction pooler such as PgBouncer is in between. Then statements have no names, and timeouts are set per transaction instead of
   *  per connection. */
  readonly throughPooler?: boolean;
  /** For tests. Called before each statement, including BEGIN, COMMIT and ROLLBACK. What it throws becomes the statement's error. */
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

/** Margin after the server's own statement timeout. Matters only when the server has become unreachable. */
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
    // A pooler refuses unknown startup parameters.
    ...(throughPooler ? {} : sessionTimeouts(settings)),
  };
}

/** Time after which a statement without a response has failed. */
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

/** The same timeouts for one transaction; '' if they are set on the connection. */
export function transactionTimeouts(settings: PoolSettings): string {
  if (!settings.throughPooler) return '';
  return Object.entries(sessionTimeouts(settings))
    .map(([name, ms]) => `SET LOCAL ${name} = ${Math.trunc(ms)};`)
    .join('');
}

/** Values of columns by type: `int8` is a number, and an error beyond 2^53; `numeric` stays a string, because money is exact;
 *  `timestamptz` is milliseconds since the epoch; `date` is `YYYY-MM-DD`, which the driver would parse as local midnight. */
const { INT8, TIMESTAMPTZ, DATE, NUMERIC } = pg.types.builtins;
const toDate = pg.types.getTypeParser(TIMESTAMPTZ) as (text: string) => Date | number;
export const COLUMN_TYPES: pg.TypeOverrides = new pg.TypeOverrides();
COLUMN_TYPES.setTypeParser(INT8, readInt8);
COLUMN_TYPES.setTypeParser(NUMERIC, asText);
COLUMN_TYPES.setTypeParser(TIMESTAMPTZ, (text) => Number(toDate(text)));
COLUMN_TYPES.setTypeParser(DATE, asText);

function asText(text: string): string {
  return text;
}

function readInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError('a bigint is beyond 2^53: select it as text');
  return value;
}
