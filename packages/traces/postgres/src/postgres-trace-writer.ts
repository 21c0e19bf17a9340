import { backoffMs } from '@vitrine/postgres/backoff';
import { classifyPostgresError } from '@vitrine/postgres/postgres-error';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { Transaction } from '@vitrine/postgres/transaction';
import type { ClassifiedError, RecordFailure, RecordResult, RecordWriter } from '@vitrine/traces/record-writer';
import type { TraceRecord } from '@vitrine/traces/trace-record';
import { writeErrorOf } from '@vitrine/traces/write-error';
import { setTimeout as wait } from 'node:timers/promises';
import { addSums } from './add-sums.ts';
import { settleBackground } from './postgres-background-responses.ts';
import { storableRecord } from './storable-record.ts';
import { TRACE_BODIES, TRACES } from './trace-columns.ts';

/** Maximum tries of a transaction after a conflict: a deadlock or a lock timeout. */
const CONTENTION_TRIES = 3;
const CONTENTION_BACKOFF = { firstMs: 20, maxMs: 200 };
/** Classes of errors that a single record would get too, after the same wait. */
const STORE_IS_AWAY: readonly string[] = ['contention', 'connection', 'timeout'];

/** Batches that COPY did not write: those tried with one INSERT, and those with a transaction per record. */
export interface WriteFallbacks {
  readonly insert: number;
  readonly records: number;
}

/** Writes records with their sums to the tables that any number of writers share. A batch is one transaction: COPY; if that fails, such as for
 *  repeated records, an INSERT that skips existing rows; if that fails too, a transaction per record. */
export class PostgresTraceWriter implements RecordWriter {
  readonly #pool: PostgresPool;
  readonly #fallbacks = { insert: 0, records: 0 };

  constructor(pool: PostgresPool) {
    this.#pool = pool;
  }

  get fallbacks(): WriteFallbacks {
    return this.#fallbacks;
  }

  async write(given: readonly TraceRecord[]): Promise<RecordResult[]> {
    if (given.length === 0) return [];
    const records = given.map(storableRecord);
    const operation = records.length === 1 ? 'write_trace' : 'write_batch_fallback';
    const failureOf = (error: unknown): RecordFailure => ({ operation, ...classified(error) });
    try {
      return await this.#writeAtOnce(records);
    } catch (error) {
      if (records.length === 1 || STORE_IS_AWAY.includes(classifyPostgresError(error)))
        return records.map(() => failureOf(error));
      this.#fallbacks.records += 1;
      return this.#writeOneByOne(records, failureOf);
    }
  }

  async #writeAtOnce(records: readonly TraceRecord[]): Promise<RecordResult[]> {
    try {
      return await this.#insert(copyRows, records);
    } catch (error) {
      if (classifyPostgresError(error) === 'contention') throw error;
      this.#fallbacks.insert += 1;
      // Also when the connection was lost, because the rows exist if it was lost after the COMMIT.
      return this.#insert(insertNewRows, records);
    }
  }

  async #writeOneByOne(records: readonly TraceRecord[], failureOf: (error: unknown) => RecordFailure): Promise<RecordResult[]> {
    const results: RecordResult[] = [];
    for (const record of records) {
      try {
        results.push(...(await this.#insert(insertNewRows, [record])));
      } catch (error) {
        const failure = failureOf(error);
        if (STORE_IS_AWAY.includes(failure.error_class)) return [...results, ...records.slice(results.length).map(() => failure)];
        results.push(failure);
      }
    }
    return results;
  }

  /** One transaction, retried after a conflict with another. */
  #insert(insert: Insert, records: readonly TraceRecord[]): Promise<RecordResult[]> {
    return againAfterContention(() =>
      this.#pool.transaction(async (transaction) => {
        const settled = await settleBackground(transaction, records);
        const isNew = await insert(transaction, settled);
        const added = settled.filter((_, at) => isNew[at]);
        if (added.length > 0) await addSums(transaction, added);
        return settled.map((record, at): RecordResult => {
          if (isNew[at] !== true) return 'already_there';
          return record === records[at] ? 'written' : { settled: record };
        });
      }),
    );
  }
}

/** Inserts rows, and returns for each whether it was new. */
type Insert = (transaction: Transaction, records: readonly TraceRecord[]) => Promise<boolean[]>;

export async function copyRows(transaction: Transaction, records: readonly TraceRecord[]): Promise<boolean[]> {
  await transaction.copyFrom(TRACES.copy, TRACES.copyText(records));
  await transaction.copyFrom(TRACE_BODIES.copy, TRACE_BODIES.copyText(records));
  return records.map(() => true);
}

async function insertNewRows(transaction: Transaction, records: readonly TraceRecord[]): Promise<boolean[]> {
  const rows = await transaction.query<{ id: string }>(TRACES.insertNew, TRACES.columnsOf(records));
  const ids = new Set(rows.map(({ id }) => id.replaceAll('-', '')));
  // Of records with the same id the first is new.
  const isNew = records.map(({ id }) => ids.delete(Buffer.from(id).toString('hex')));
  await transaction.execute(TRACE_BODIES.insertNew, TRACE_BODIES.columnsOf(records.filter((_, at) => isNew[at])));
  return isNew;
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

/** The stack is only for internal bugs. */
function classified(error: unknown): ClassifiedError {
  const error_class = classifyPostgresError(error);
  const { stack, ...fields } = writeErrorOf(error);
  const isBug = error_class === 'unknown' && fields.code === '';
  return { error_class, error: isBug && stack !== undefined ? { ...fields, stack } : fields };
}
