import { Fault } from '@vitrine/faults/fault';
import { invariant } from '@vitrine/faults/invariant';
import { AsyncLocalStorage } from 'node:async_hooks';
import pg from 'pg';
import { Connection, type Queryable, type Row, type StatementOptions } from './connection.ts';
import { addressOf, type PostgresAddress } from './dsn.ts';
import { NotificationListener, type NotificationHandlers } from './notification-listener.ts';
import { noCounts, type PoolFigures } from './pool-figures.ts';
import {
  clientConfig,
  poolSettings,
  readTimeoutMs,
  transactionTimeouts,
  type PoolSettings,
  type PostgresPoolOptions,
} from './pool-options.ts';
import { classifyPostgresError } from './postgres-error.ts';
import { runTransaction, type Transaction, type TransactionOptions } from './transaction.ts';

/** Connections to one database. It opens none before the first call. Errors are the driver's (`classifyPostgresError`), and `postgres_pool_full`
 *  when too many calls wait. */
export class PostgresPool implements Queryable, AsyncDisposable {
  readonly #settings: PoolSettings;
  readonly #pool: pg.Pool;
  readonly #counters = noCounts();
  readonly #inTransaction = new AsyncLocalStorage<true>();
  #listeners = 0;

  /** Faults: `invalid_dsn`. */
  constructor(options: PostgresPoolOptions) {
    this.#settings = poolSettings(options);
    const { maxConnections, idleTimeoutMs } = this.#settings;
    this.#pool = new pg.Pool({ ...clientConfig(this.#settings), max: maxConnections, idleTimeoutMillis: idleTimeoutMs });
    this.#pool.on('connect', (client) => {
      this.#counters.connectionsOpened += 1;
      // A connection that breaks while in use also emits an event, which would end the process without a listener.
      client.on('error', () => {});
    });
    // An error of an idle connection, which the pool has removed.
    this.#pool.on('error', () => (this.#counters.connectionsLost += 1));
  }

  /** Address of the database, for logs. */
  get address(): PostgresAddress {
    return addressOf(this.#settings.dsn);
  }

  async query<R extends object = Row>(text: string, values: readonly unknown[] = [], options?: StatementOptions): Promise<R[]> {
    return (await this.#run<R>(text, values, options)).rows;
  }

  async execute(text: string, values: readonly unknown[] = [], options?: StatementOptions): Promise<number> {
    return (await this.#run(text, values, options)).rowCount ?? 0;
  }

  /** Commits the statements of `work`, or nothing when it throws. Transactions do not nest, because the inner one would wait for a second
   *  connection, which might be the last, and would not see the rows of the outer one. */
  async transaction<T>(work: (transaction: Transaction) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    invariant(this.#inTransaction.getStore() === undefined, 'transactions do not nest');
    const connection = await this.#connect();
    this.#counters.transactions += 1;
    try {
      const run = () => runTransaction(connection, transactionTimeouts(this.#settings), options, work);
      return await this.#inTransaction.run(true, run);
    } catch (error) {
      this.#counters.rollbacks += 1;
      throw error;
    }
  }

  /** Subscribes to notifications over a separate connection. Does not work through a transaction pooler. */
  listen(channel: string, handlers: NotificationHandlers): NotificationListener {
    const config = { ...clientConfig(this.#settings), query_timeout: readTimeoutMs(this.#settings) };
    this.#listeners += 1;
    return new NotificationListener(config, channel, handlers);
  }

  /** A pool of a listening service uses that additional connection for the life of the process. */
  figures(): PoolFigures {
    const { totalCount, idleCount, waitingCount } = this.#pool;
    return {
      ...this.#counters,
      errors: { ...this.#counters.errors },
      connections: totalCount + this.#listeners,
      idleConnections: idleCount,
      maxConnections: this.#settings.maxConnections + this.#listeners,
      waiting: waitingCount,
    };
  }

  /** Waits for the calls in flight, and closes all connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#pool.ending) await this.#pool.end();
  }

  async #run<R extends object>(text: string, values: readonly unknown[], options?: StatementOptions) {
    const connection = await this.#connect();
    try {
      return await connection.run<R>(text, values, options);
    } finally {
      connection.release();
    }
  }

  async #connect(): Promise<Connection> {
    const { maxWaiting } = this.#settings;
    if (this.#pool.waitingCount >= maxWaiting)
      throw new Fault('postgres_pool_full', { say: 'too many calls wait for a database connection', log: { maxWaiting } });
    const startedAt = performance.now();
    try {
      const client = await this.#pool.connect();
      this.#counters.acquired += 1;
      this.#counters.acquireMs += performance.now() - startedAt;
      return new Connection(client, this.#settings, this.#counters);
    } catch (error) {
      this.#counters.errors[classifyPostgresError(error)] += 1;
      throw error;
    }
  }
}
