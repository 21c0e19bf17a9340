import type { Queryable } from '@vitrine/postgres/connection';
import { readHoursToPack } from '@vitrine/trace-store-postgres/finish-buckets';
import { readPartitionsAhead } from '@vitrine/trace-store-postgres/partitions-ahead';

const READ_INTERVAL_MS = 60_000;

/** What is known of the database's tables; undefined until it is, and while the database is away. */
export interface TableFigures {
  readonly partitionsAhead: number | undefined;
  readonly hoursToPack: number | undefined;
}

export const UNKNOWN_TABLES: TableFigures = { partitionsAhead: undefined, hoursToPack: undefined };

/** Reads them once a minute. */
export class TableFiguresReader implements Disposable {
  readonly #timer: NodeJS.Timeout;
  #figures: TableFigures = UNKNOWN_TABLES;

  constructor(database: Queryable) {
    const read = () =>
      void Promise.all([readPartitionsAhead(database), readHoursToPack(database)]).then(
        ([partitionsAhead, hoursToPack]) => (this.#figures = { partitionsAhead, hoursToPack }),
        () => (this.#figures = UNKNOWN_TABLES),
      );
    this.#timer = setInterval(read, READ_INTERVAL_MS);
    this.#timer.unref();
    read();
  }

  get figures(): TableFigures {
    return this.#figures;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
