import type { Queryable } from '@vitrine/postgres/connection';
import { readPartitionsAhead } from '@vitrine/trace-store-postgres/partitions-ahead';

const READ_INTERVAL_MS = 60_000;

/** What is known of the database's tables; undefined until it is, and while the database is away. */
interface TableFigures {
  readonly partitionsAhead: number | undefined;
}

export const UNKNOWN_TABLES: TableFigures = { partitionsAhead: undefined };

/** Reads them once a minute. */
export class TableFiguresReader implements Disposable {
  readonly #timer: NodeJS.Timeout;
  #figures: TableFigures = UNKNOWN_TABLES;

  constructor(database: Queryable) {
    const read = () =>
      void readPartitionsAhead(database).then(
        (partitionsAhead) => (this.#figures = { partitionsAhead }),
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
