import type { PostgresPool } from '@vitrine/postgres/postgres-pool';

const SUMS = ['by_key', 'by_model'].flatMap((kind) => [`trace_sums_${kind}_hour`, `trace_sums_${kind}_day`]);
const WRITTEN = ['traces', 'trace_bodies', 'trace_hours', 'day_usage', ...SUMS];

/** What trace-writers have written. */
export class TraceTables {
  readonly #database: PostgresPool;

  constructor(database: PostgresPool) {
    this.#database = database;
  }

  /** Empties them, and flushes pending writes of the previous run, so that they do not happen during the next. */
  async clear(): Promise<void> {
    await this.#database.query(`TRUNCATE ${WRITTEN.join(', ')}`);
    await this.#database.query('CHECKPOINT');
  }

  /** Committed traces, by their sums: no count of rows. */
  async summed(): Promise<number> {
    return this.#number('SELECT coalesce(sum(requests), 0)::bigint AS value FROM day_usage');
  }

  async counted(): Promise<number> {
    return this.#number('SELECT count(*) AS value FROM traces');
  }

  /** Of both tables with all of their indexes. */
  async bytes(): Promise<number> {
    return this.#number(`SELECT sum(pg_total_relation_size(inhrelid))::bigint AS value FROM pg_inherits
      WHERE inhparent IN ('traces'::regclass, 'trace_bodies'::regclass)`);
  }

  /** Bytes of write-ahead log since the server was created. */
  async logBytes(): Promise<number> {
    return this.#number("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint AS value");
  }

  async #number(text: string): Promise<number> {
    const [row] = await this.#database.query<{ value: number }>(text);
    return row?.value ?? Number.NaN;
  }
}
