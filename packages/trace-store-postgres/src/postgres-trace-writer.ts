import { backoffMs } from '@vitrine/postgres/backoff';
import { classifyPostgresError } from '@vitrine/postgres/postgres-error';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { Transaction } from '@vitrine/postgres/transaction';
import type { ClassifiedError, RecordBatch, RecordFailure, RecordResult, RecordWriter } from '@vitrine/traces/record-writer';
import type { TraceRecord } from '@vitrine/traces/trace-record';
import { writeErrorOf } from '@vitrine/traces/write-error';
import { setTimeout as wait } from 'node:timers/promises';
import { addSums } from './add-sums.ts';
import { copyRows, insertNewRows, type Insert } from './insert-rows.ts';
import { PostgresBackgroundResponses, settleBackground } from './postgres-background-responses.ts';
import { readBatch, type ReadRecord } from './read-batch.ts';

/** Tries of a transaction that met another one: a deadlock, or a lock that was not given in time. */
const CONTENTION_TRIES = 3;
const CONTENTION_BACKOFF = { firstMs: 20, maxMs: 200 };
/** Classes of errors that a record by itself would meet too, after as long a wait. */
const STORE_IS_AWAY: readonly string[] = ['contention', 'connection', 'timeout'];

/** Batches that COPY did not write: how many one INSERT was tried for, and how many had a transaction for each record. */
export interface WriteFallbacks {
  readonly insert: number;
  readonly records: number;
}

/** Writes records with their sums to the tables that any number of writers share. A batch is one transaction: COPY, or where that fails, such as
 *  for records that come again, an INSERT that leaves out what is there; where that fails too, a transaction for each record. */
export class PostgresTraceWriter implements RecordWriter {
  /** For the derivation, while a batch is read. */
  readonly background: PostgresBackgroundResponses = new PostgresBackgroundResponses();
  readonly #pool: PostgresPool;
  readonly #fallbacks = { insert: 0, records: 0 };

  constructor(pool: PostgresPool) {
    this.#pool = pool;
  }

  get fallbacks(): WriteFallbacks {
    return this.#fallbacks;
  }

  async write(batch: RecordBatch): Promise<RecordResult[]> {
    const read = readBatch(batch, this.background);
    const operation = batch.count === 1 ? 'write_trace' : 'write_batch_fallback';
    const failureOf = (error: unknown): RecordFailure => ({ operation, ...classified(error) });
    const made = read.flatMap((one, at) => ('record' in one ? [at] : []));
    const results = new Map<number, RecordResult>();
    try {
      await this.#writeAtOnce(batch, read, made, results);
    } catch (error) {
      if (made.length > 1 && !STORE_IS_AWAY.includes(classifyPostgresError(error))) {
        this.#fallbacks.records += 1;
        await this.#writeOneByOne(batch, read, made, results, failureOf);
      } else for (const at of made) results.set(at, failureOf(error));
    }
    return read.map((one, at) => ('error' in one ? failureOf(one.error) : (results.get(at) as RecordResult)));
  }

  async #writeAtOnce(
    batch: RecordBatch,
    read: readonly ReadRecord[],
    made: readonly number[],
    results: Map<number, RecordResult>,
  ) {
    try {
      await this.#insert(copyRows, batch, read, made, results);
    } catch (error) {
      if (classifyPostgresError(error) === 'contention') throw error;
      this.#fallbacks.insert += 1;
      // Also when the connection was lost: the rows may be there, if it was lost after the COMMIT.
      await this.#insert(insertNewRows, batch, read, made, results);
    }
  }

  async #writeOneByOne(
    batch: RecordBatch,
    read: readonly ReadRecord[],
    made: readonly number[],
    results: Map<number, RecordResult>,
    failureOf: (error: unknown) => RecordFailure,
  ): Promise<void> {
    for (const at of made) {
      try {
        await this.#insert(insertNewRows, batch, read, [at], results);
      } catch (error) {
        const failure = failureOf(error);
        results.set(at, failure);
        if (!STORE_IS_AWAY.includes(failure.error_class)) continue;
        for (const later of made.slice(made.indexOf(at))) results.set(later, failure);
        return;
      }
    }
  }

  /** One transaction of the records at some places of the batch, tried again when it meets another one. */
  async #insert(
    insert: Insert,
    batch: RecordBatch,
    read: readonly ReadRecord[],
    places: readonly number[],
    results: Map<number, RecordResult>,
  ): Promise<void> {
    if (places.length === 0) return;
    const isNew = await againAfterContention(() =>
      this.#pool.transaction(async (transaction) => {
        const records = await this.#recordsAt(transaction, batch, read, places);
        const inserted = await insert(transaction, records);
        const added = records.filter((_, at) => inserted[at]);
        if (added.length > 0) await addSums(transaction, added);
        return inserted;
      }),
    );
    for (const [at, place] of places.entries()) results.set(place, isNew[at] === true ? 'written' : 'already_there');
  }

  /** The records as they were read; made again where they count usage of responses in the background that this transaction could claim. */
  async #recordsAt(
    transaction: Transaction,
    batch: RecordBatch,
    read: readonly ReadRecord[],
    places: readonly number[],
  ): Promise<TraceRecord[]> {
    const work = places.flatMap((place) => workOf(read[place]) ?? []);
    const claims = work.length === 0 ? undefined : await settleBackground(transaction, work);
    const current = claims === undefined || claims.size === 0 ? read : readBatch(batch, this.background, claims);
    return places.map((place) => recordOf(current[place]));
  }
}

async function againAfterContention<T>(run: () => Promise<T>): Promise<T> {
  for (let retry = 0; ; retry += 1) {
    try {
      return await run();
    } catch (error) {
      if (retry + 1 >= CONTENTION_TRIES || classifyPostgresError(error) !== 'contention') throw error;
      await wait(backoffMs(retry, CONTENTION_BACKOFF, Math.random()));
    }
  }
}

function workOf(read: ReadRecord | undefined) {
  return read !== undefined && 'record' in read ? read.work : undefined;
}

/** A record that was made once is made again. */
function recordOf(read: ReadRecord | undefined): TraceRecord {
  if (read === undefined) throw new Error('invariant violated: a batch has fewer records when it is read again');
  if ('error' in read) throw read.error;
  return read.record;
}

/** The stack is for errors that are bugs of ours. */
function classified(error: unknown): ClassifiedError {
  const error_class = classifyPostgresError(error);
  const { stack, ...fields } = writeErrorOf(error);
  const isBug = error_class === 'unknown' && fields.code === '';
  return { error_class, error: isBug && stack !== undefined ? { ...fields, stack } : fields };
}
