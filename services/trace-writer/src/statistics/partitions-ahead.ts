import type { Queryable } from '@vitrine/postgres/connection';
import { readPartitionsAhead } from '@vitrine/trace-store-postgres/partitions-ahead';

const READ_INTERVAL_MS = 60_000;

/** How many days ahead have partitions, read once a minute; undefined until it is known, and while the database is away. */
export class PartitionsAhead implements Disposable {
  readonly #timer: NodeJS.Timeout;
  #days: number | undefined;

  constructor(database: Queryable) {
    const read = () =>
      void readPartitionsAhead(database).then(
        (days) => (this.#days = days),
        () => (this.#days = undefined),
      );
    this.#timer = setInterval(read, READ_INTERVAL_MS);
    this.#timer.unref();
    read();
  }

  get days(): number | undefined {
    return this.#days;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
