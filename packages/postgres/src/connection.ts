import type pg from 'pg';
import { from as copyStream } from 'pg-copy-streams';
import type { PoolCounters } from './pool-figures.ts';
import type { PoolSettings } from './pool-options.ts';
import { finished } from 'node:stream/promises';
import { classifyPostgresError, isReadTimeout } from './postgres-error.ts';

/** A column is what `column-types.ts` makes of it. */
export type Row = Record<string, unknown>;

export interface StatementOptions {
  /** Prepares the statement once for each connection and runs it by this name; for hot statements with a constant text. */
  readonly name?: string;
}

/** Where statements run. */
export interface Queryable {
  /** Resolves with the rows. */
  query<R extends object = Row>(text: string, values?: readonly unknown[], options?: StatementOptions): Promise<R[]>;
  /** Resolves with the number of rows that were inserted, changed or removed. */
  execute(text: string, values?: readonly unknown[], options?: StatementOptions): Promise<number>;
}

/** One connection of a pool while a call has it. */
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
      // Without values several statements may stand in one text.
      if (values === undefined && !isNamed) return this.#client.query<R>(text);
      return this.#client.query<R>({ text, values: [...(values ?? [])], ...(isNamed ? { name: options.name } : {}) });
    });
  }

  /** Resolves with the number of rows. */
  copyFrom(text: string, data: Uint8Array): Promise<number> {
    return this.#counted(text, async () => {
      const stream = this.#client.query(copyStream(text));
      stream.end(data);
      // The stream finishes when the server is ready for the next statement.
      await finished(stream, { cleanup: true });
      return stream.rowCount;
    });
  }

  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** Gives the connection back to its pool, or destroys it when it is broken or in an unknown state. */
  release(isUsable = true): void {
    const isLost = !isUsable || this.#isBroken;
    if (isLost) this.#counters.connectionsLost += 1;
    this.#client.release(isLost);
  }

  async #counted<T>(text: string, run: () => Promise<T>): Promise<T> {
    this.#counters.statements += 1;
    try {
      this.#settings.beforeStatement(text);
      return await run();
    } catch (error) {
      const errorClass = classifyPostgresError(error);
      this.#counters.errors[errorClass] += 1;
      if (errorClass === 'connection' || isReadTimeout(error)) this.#isBroken = true;
      throw error;
    }
  }
}
