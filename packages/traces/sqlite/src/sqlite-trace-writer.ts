import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { RetentionClock, type RetentionRun } from '@vitrine/lifecycle/retention-clock';
import { advanceRetention } from '@vitrine/sqlite/advance-retention';
import { fileAt } from '@vitrine/sqlite/database-file';
import { keepDatabasePrivate, makePrivateFile } from '@vitrine/sqlite/private-file';
import type { Removed } from '@vitrine/telemetry/retention-log';
import { probeRecord } from '@vitrine/traces/probe-record';
import { DAY_MS } from '@vitrine/traces/time-buckets';
import { BODY_COLUMNS, TRACE_COLUMNS, type TraceColumn } from '@vitrine/traces/trace-columns';
import { firstIdOf } from '@vitrine/traces/trace-id';
import type { TraceRecord } from '@vitrine/traces/trace-record';
import { writeWithFallback, type RecordResult, type RecordWriter } from '@vitrine/traces/record-writer';
import { removeRows } from './remove-rows.ts';
import { SqliteBackgroundResponses } from './sqlite-background-responses.ts';
import { classifySqliteError } from './sqlite-error.ts';
import { LEVELS, NO_TENANT, SumTables, tenantsIn } from './sum-tables.ts';
import { hexOf, inputOf } from './trace-columns.ts';
import { createTraceTables } from './trace-tables.ts';

/** How long a write waits for another process's lock before it counts as contention. */
const BUSY_TIMEOUT_MS = 2_000;
/** Traces removed by one call of `removeOlderThan`: some 20 ms of work, so that writes are never delayed for long. */
const REMOVED_AT_ONCE = 2_000;
/** Size written by `probe`: as many pages as the commit of a trace changes. With less, a full disk seemed to have room. */
const PROBE_BODY = 'x'.repeat(131_072);
const ROLLED_BACK = new Error('a probe is rolled back');
/** Thrown when some of the rows already exist. Ids are unique per trace, so this happens only for a repeated batch. */
const ALREADY_THERE = new Error('a trace was written before');

/** The only writer of an embedded trace store. Synchronous: it runs on the thread that derives records (`sqlite-writer-module.ts`). */
export class SqliteTraceWriter implements RecordWriter, Disposable {
  readonly #path: string;
  readonly #file: string;
  readonly #database: DatabaseSync;
  readonly #background: SqliteBackgroundResponses;
  readonly #insertTrace: Insert;
  readonly #insertBodies: Insert;
  readonly #sums: SumTables;
  readonly #setTotal: StatementSync;
  readonly #find: StatementSync;
  readonly #retention = new RetentionClock(() => performance.now());
  #traceCount: number;
  #sumsRemovedBeforeDay = 0;

  /** `open` opens the file, after it was made private. */
  constructor(path: string, open: (path: string) => DatabaseSync = openDatabase) {
    makePrivateFile(path);
    this.#database = open(path);
    // Only for a new file. A page holds rows of up to a quarter of its size: with 4 KiB, headers took a page of their own for each trace, which
    // nearly trebled the file and took 14 us of CPU more.
    this.#database.exec('PRAGMA page_size = 8192');
    // Before anything that changes the file, because it refuses foreign files.
    createTraceTables(this.#database);
    keepDatabasePrivate(path);
    this.#path = path;
    this.#file = fileAt(path) ?? '';
    // WAL with NORMAL loses nothing when the process is killed, and at most the last moments in a power failure. Checkpoints at 2,000 pages,
    // 16 MiB, take 30 ms (100 ms at 64 MiB) with the same CPU per trace.
    this.#database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 2000;');
    this.#insertTrace = new Insert(this.#database, 'traces', TRACE_COLUMNS);
    this.#insertBodies = new Insert(this.#database, 'trace_bodies', BODY_COLUMNS);
    this.#sums = new SumTables(this.#database);
    this.#setTotal = this.#database.prepare('UPDATE totals SET value = ? WHERE name = ?');
    this.#find = this.#database.prepare('SELECT 1 FROM traces WHERE id = ?');
    this.#background = new SqliteBackgroundResponses(this.#database);
    this.#traceCount = Number(this.#database.prepare("SELECT value FROM totals WHERE name = 'trace_count'").get()?.['value']);
  }

  /** Traces in the file, exact. */
  get traceCount(): number {
    return this.#traceCount;
  }

  /** Writes records in one transaction. */
  write(records: readonly TraceRecord[]): readonly RecordResult[] {
    return writeWithFallback(records, (some) => this.#writeAll(some), classifySqliteError);
  }

  has(id: Uint8Array): boolean {
    return this.#find.get(hexOf(id)) !== undefined;
  }

  /** Advances the time by which data is removed, and stores it. */
  advanceRetention(nowMs: number): RetentionRun {
    const newest = this.#database.prepare('SELECT created_at FROM traces ORDER BY id DESC LIMIT 1');
    const newestMs = () => newest.get()?.['created_at'] as number | undefined;
    return this.#transaction(() => advanceRetention(this.#database, this.#retention, { name: 'traces', newestMs }, nowMs));
  }

  /** Removes up to 2,000 of the oldest traces created before `createdBeforeMs` and returns their summary. With the last of them removes the
   *  sums of days before that of `sumsBeforeMs`. */
  removeOlderThan(createdBeforeMs: number, sumsBeforeMs: number = 0): Removed[] {
    const day = Math.floor(sumsBeforeMs / DAY_MS);
    const { count, removed } = this.#transaction(() => {
      const removed = this.#removeOldest(createdBeforeMs);
      const count = removed[0]?.count ?? 0;
      if (count < REMOVED_AT_ONCE) {
        removed.push(...removeRows(this.#database, { table: 'background_responses', column: 'created_at' }, createdBeforeMs));
        // Not only for a later day, because after a clock was ahead and set back, sums would stay until it had caught up.
        if (day !== this.#sumsRemovedBeforeDay) removed.push(...this.#removeSums(day * DAY_MS));
      }
      this.#setTotal.run(this.#traceCount - count, 'trace_count');
      this.#database.prepare("UPDATE totals SET value = max(value, ?) WHERE name = 'removed_before'").run(createdBeforeMs);
      return { count, removed };
    });
    this.#traceCount -= count;
    if (count < REMOVED_AT_ONCE) this.#sumsRemovedBeforeDay = day;
    return removed;
  }

  /** Writes a trace and rolls it back, then commits the bytes of one and deletes them. Throws when traces could not be written. A rollback alone
   *  would not detect a full disk, and a committed trace would be visible. Retention removes bytes left by a crash. */
  probe(): void {
    try {
      this.#transaction(() => {
        this.#insertAll([probeRecord(Date.now())]);
        throw ROLLED_BACK;
      });
    } catch (error) {
      if (error !== ROLLED_BACK) throw error;
    }
    const insert = this.#database.prepare("INSERT OR REPLACE INTO trace_bodies VALUES ('', '', '', NULL, NULL, ?)");
    this.#transaction(() => void insert.run(PROBE_BODY));
    this.#transaction(() => this.#database.exec("DELETE FROM trace_bodies WHERE id = ''"));
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }

  #removeOldest(createdBeforeMs: number): Removed[] {
    const some = `SELECT id, created_at FROM traces WHERE id < ? ORDER BY id LIMIT ${REMOVED_AT_ONCE}`;
    const sql = `SELECT count(*) AS count, max(id) AS last, min(created_at) AS oldest, max(created_at) AS newest FROM (${some})`;
    const { count, last, oldest, newest } = this.#database.prepare(sql).get(hexOf(firstIdOf(createdBeforeMs))) ?? {};
    if (typeof last !== 'string') return [];
    for (const table of ['traces', 'trace_bodies']) this.#database.prepare(`DELETE FROM ${table} WHERE id <= ?`).run(last);
    return [{ what: 'traces', count: Number(count), oldest: Number(oldest), newest: Number(newest) }];
  }

  /** Removes whole days, so that hours and days agree. Uses the key of the table, so that only removed rows are read. */
  #removeSums(beforeMs: number): Removed[] {
    const owners = [NO_TENANT, ...tenantsIn(this.#database)];
    const removed = owners.flatMap((owner) =>
      LEVELS.flatMap((level) =>
        removeRows(this.#database, { table: 'trace_sums', column: 'bucket_start', of: { level, ...owner } }, beforeMs),
      ),
    );
    return [...removed, ...removeRows(this.#database, { table: 'day_usage', column: 'day', isDate: true }, beforeMs)];
  }

  #writeAll(records: readonly TraceRecord[]): readonly RecordResult[] {
    try {
      const settled = this.#transaction(() => {
        const settled = records.map((record) => this.#background.settle(record));
        this.#insertAll(settled);
        return settled;
      });
      this.#traceCount += records.length;
      return settled.map((record, at) => (record === records[at] ? 'written' : { settled: record }));
    } catch (error) {
      // A whole batch is tried again one by one.
      if (error === ALREADY_THERE && records.length === 1) return ['already_there'];
      throw error;
    }
  }

  #insertAll(records: readonly TraceRecord[]): void {
    for (const record of records) {
      if (!this.#insertTrace.run(record)) throw ALREADY_THERE;
      this.#insertBodies.run(record);
    }
    this.#sums.add(records);
    this.#setTotal.run(this.#traceCount + records.length, 'trace_count');
  }

  #transaction<T>(work: () => T): T {
    // The system keeps a moved or deleted file while it is open, and what is written then is lost with it.
    if (fileAt(this.#path) !== this.#file)
      throw Object.assign(new Error('the trace file was moved, deleted or replaced'), { code: 'file_moved' });
    // A failed transaction that could not be rolled back would make every later one fail.
    if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      this.#database.exec('COMMIT');
      return result;
    } catch (error) {
      // On a full disk SQLite itself rolls back. A second ROLLBACK would hide the reason.
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }
}

/** Inserts records into a table. */
class Insert {
  readonly #columns: readonly TraceColumn[];
  readonly #statement: StatementSync;

  constructor(database: DatabaseSync, table: string, columns: readonly TraceColumn[]) {
    const names = columns.map(({ name }) => name);
    this.#columns = columns;
    this.#statement = database.prepare(
      `INSERT INTO ${table} (${names.join()}) VALUES (${names.map(() => '?').join()}) ON CONFLICT DO NOTHING`,
    );
  }

  /** Returns false when the row already exists. */
  run(record: TraceRecord): boolean {
    return this.#statement.run(...this.#columns.map(({ of }) => inputOf(of(record)))).changes > 0;
  }
}

function openDatabase(path: string): DatabaseSync {
  return new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
}
