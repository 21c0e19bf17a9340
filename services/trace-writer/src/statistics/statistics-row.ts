import type { Queryable } from '@vitrine/postgres/connection';
import { readPartitionsAhead } from '@vitrine/trace-store-postgres/partitions-ahead';
import { putWriterStatistics, removeOldStatistics } from '@vitrine/trace-store-postgres/writer-statistics';
import { FAILURE_CLASSES } from '@vitrine/traces/record-writer';
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { WriterFigures } from '../observability/writer-telemetry.ts';

const UPDATE_INTERVAL_MS = 5_000;
const READ_PARTITIONS_INTERVAL_MS = 60_000;
/** A rejected record has failed because of its own content. */
const kindOf = (errorClass: string) => `write_batch_fallback ${errorClass}`;

type WriterCounts = Pick<WriterFigures, 'written' | 'deadLetters' | 'lastStoreDrop'>;

/** Maintains this process's row of statistics, which the diagnostics of the gateways add up: records written, and records that the store refused
 *  and that are in the dead letter topic. */
export class StatisticsRow implements AsyncDisposable {
  readonly #database: Queryable;
  readonly #read: () => WriterCounts;
  readonly #writer = `${hostname()}-${randomBytes(4).toString('hex')}`;
  readonly #startedAt = new Date();
  readonly #timer: NodeJS.Timeout;
  #last = '';
  #updating: Promise<void> | undefined;

  constructor(database: Queryable, read: () => WriterCounts) {
    this.#database = database;
    this.#read = read;
    // While the database is unavailable the row is out of date. Log and metrics report the cause.
    const update = () => void this.#updateOnce().catch(() => {});
    this.#timer = setInterval(update, UPDATE_INTERVAL_MS).unref();
    update();
  }

  /** Writes the last counts. Rejects with the database's error. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#updating?.catch(() => {});
    await this.#updateOnce();
  }

  #updateOnce(): Promise<void> {
    this.#updating ??= this.#update().finally(() => (this.#updating = undefined));
    return this.#updating;
  }

  async #update(): Promise<void> {
    const { written, deadLetters, lastStoreDrop: last } = this.#read();
    const dropped = FAILURE_CLASSES.map((errorClass) => [errorClass, deadLetters.get(errorClass) ?? 0] as const);
    const counted = dropped.filter(([, count]) => count > 0).map(([name, count]) => [kindOf(name), count]);
    const lastDrop = last && { at: last.at, kind: kindOf(last.errorClass) };
    const counts = { written, droppedBy: Object.fromEntries(counted) as Record<string, number>, lastDrop };
    const text = JSON.stringify(counts);
    if (this.#last === text) return;
    await putWriterStatistics(this.#database, { writer: this.#writer, startedAt: this.#startedAt, ...counts });
    if (this.#last === '') await removeOldStatistics(this.#database);
    this.#last = text;
  }
}

/** Reads once a minute how many days ahead partitions exist. */
export class PartitionsAheadReader implements Disposable {
  /** Days; undefined before the first read and while the database is away. */
  partitionsAhead: number | undefined;
  readonly #timer: NodeJS.Timeout;

  constructor(database: Queryable) {
    const read = async () => {
      this.partitionsAhead = await readPartitionsAhead(database).catch(() => undefined);
    };
    this.#timer = setInterval(() => void read(), READ_PARTITIONS_INTERVAL_MS).unref();
    void read();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
