import type pg from 'pg';
import { from as copyStream } from 'pg-copy-streams';
import type { PoolCounters } from './pool-figures.ts';
import { readTimeoutMs, type PoolSettings } from './pool-options.ts';
import { finished } from 'node:stream/promises';
import { classifyPostgresError, isReadTimeout, readTimeout } from './postgres-error.ts';

/** Columns are converted by `COLUMN_TYPES`. */
export type Row = Record<string, unknown>;

export interface StatementOptions {
  /** Prepares the statement once for each connection and runs it by this name; for hot statements with a constant text. */
  readonly name?: string;
}

/** Runs statements. */
export interface Queryable {
  /** Resolves with the rows. */
  query<R extends object = Row>(text: string, values?: readonly unknown[], options?: StatementOptions): Promise<R[]>;
  /** Resolves with the number of rows that were inserted, changed or removed. */
  execute(text: string, values?: readonly unknown[], options?: StatementOptions): Promise<number>;
}

/** One connection of a pool while a call uses it. */
export class Connection {
  readonly #client: pg.PoolClient;
  readonly #settings: PoolSettings;
  readonly #counters: PoolCounters;
  #isBroken = false;

  constructor(client: pg.PoolClient, settings: PoolSettings, counters: PoolCounters) {
    this.#client = client;
    this.#settings = settings;
    this.#counters = counters;
  }

  run<R extends object>(text: string, values?: readonly unknown[], options?: StatementOptions): Promise<pg.QueryResult<R>> {
    const isNamed = options?.name !== undefined && !this.#settings.throughPooler;
    return this.#counted(text, () => {
      // Without values a text may contain several statements.
      const parameters = values === undefined && !isNamed ? {} : { values: [...(values ?? [])] };
      const config = { text, ...parameters, ...(isNamed ? { name: options.name } : {}) };
      return this.#answered<pg.QueryResult<R>>((resolve, reject) => {
        this.#client.query<R>(config, (error, result) => (error ? reject(error) : resolve(result)));
      });
    });
  }

  /** Resolves with the number of rows. */
  copyFrom(text: string, data: Uint8Array): Promise<number> {
    return this.#counted(text, async () => {
      const stream = this.#client.query(copyStream(text));
      stream.end(data);
      // The stream finishes when the server is ready for the next statement.
      await this.#answered<void>((resolve, reject) => void finished(stream, { cleanup: true }).then(resolve, reject));
      return stream.rowCount;
    });
  }

  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** Returns the connection to its pool, or destroys it when it is broken or in an unknown state. */
  release(isUsable = true): void {
    const isLost = !isUsable || this.#isBroken;
    if (isLost) this.#counters.connectionsLost += 1;
    this.#client.release(isLost);
  }

  /** Settles like `run`, or with a read timeout. Uses neither the driver's promises nor its own timeout, because both assign a closure to a
   *  property of the statement, and V8 allocates such closures in the old space. Each would retain the rows of its statement until the next full
   *  collection, so that every young collection copies all rows instead of none (20 of 25 MB, 4 to 10 ms, when batches of 800 KB are read). */
  async #answered<T>(run: (resolve: (value: T) => void, reject: (error: unknown) => void) => void): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const timer = setTimeout(() => reject(readTimeout()), readTimeoutMs(this.#settings));
    try {
      run(resolve, reject);
      return await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  async #counted<T>(text: string, run: () => Promise<T>): Promise<T> {
    this.#counters.statements += 1;
    try {
      this.#settings.beforeStatement(text);
      return await run();
    } catch (error) {
      // The driver's stack ends at its socket. This one includes the caller of the statement.
      if (error instanceof Error) Error.captureStackTrace(error);
      const errorClass = classifyPostgresError(error);
      this.#counters.errors[errorClass] += 1;
      if (errorClass === 'connection' || isReadTimeout(error)) this.#isBroken = true;
      throw error;
    }
  }
}
