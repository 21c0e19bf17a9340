import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { constants, zstdCompressSync } from 'node:zlib';
import { RetentionClock, type RetentionRun } from '@vitrine/lifecycle/retention-clock';
import { advanceRetention } from '@vitrine/sqlite/advance-retention';
import type { Removed } from '@vitrine/telemetry/retention-log';
import { probeRecord } from '@vitrine/traces/probe-record';
import { DAY_MS } from '@vitrine/traces/time-buckets';
import { createdAtOf, firstIdOf } from '@vitrine/traces/trace-id';
import type { TraceRecord } from '@vitrine/traces/trace-record';
import { writeWithFallback, type RecordBatch, type RecordResult, type RecordWriter } from '@vitrine/traces/record-writer';
import { LineageSegments } from './lineage-segments.ts';
import { TraceMerger } from './merge-traces.ts';
import { PAYLOADS_PER_PAGE, PayloadPage } from './payload-page.ts';
import { keepDatabasePrivate, makePrivateFile } from '@vitrine/sqlite/private-file';
import { removeRows } from './remove-rows.ts';
import { classifySqliteError } from './sqlite-error.ts';
import { TraceDictionary } from './trace-dictionary.ts';
import { ALREADY_THERE, TraceInsert } from './trace-insert.ts';
import { SqliteBackgroundResponses } from './sqlite-background-responses.ts';
import { JournalEntry, numbersOf, readJournal } from './trace-journal.ts';
import { createTraceTables } from './trace-tables.ts';

/** How long a write waits for another process's lock before it counts as contention. */
const BUSY_TIMEOUT_MS = 2_000;
/** Traces removed by one call of `removeOlderThan`: about 10 ms of work, so that writes are never held up for long. */
const REMOVED_AT_ONCE = 2_000;
/** The journal is added to the roll-ups and to the segments of lineages when it holds so many traces, or so many batches. */
interface JournalMax {
  readonly traces: number;
  readonly batches: number;
}
/** Every query adds up the journal, which takes 5 ms when it is as long as this. Adding it to the roll-ups takes 0.1 µs a trace when
 *  all are of one kind, and 0.4 µs when they are of a thousand keys and models. */
const JOURNAL_MAX: JournalMax = { traces: 65_536, batches: 512 };

/** What `probe` writes: some pages, as a trace does. */
const PROBE_BYTES = 32_768;

const ROLLED_BACK = new Error('a probe is rolled back');

const INSERT_PAGE = 'INSERT INTO payload_pages VALUES (?,?,?,?,?)';
const FASTEST = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** The only writer of an embedded trace store. Synchronous: it runs on the thread that derives records (`sqlite-writer-module.ts`). */
export class SqliteTraceWriter implements RecordWriter, Disposable {
  /** For the derivation, while a batch is written. */
  readonly background: SqliteBackgroundResponses;
  readonly #database: DatabaseSync;
  readonly #dictionary: TraceDictionary;
  readonly #insertTraces: TraceInsert;
  readonly #insertPage: StatementSync;
  readonly #insertJournal: StatementSync;
  readonly #setTotal: StatementSync;
  readonly #find: StatementSync;
  readonly #merger: TraceMerger;
  readonly #lineages: LineageSegments;
  readonly #retention = new RetentionClock(() => performance.now());
  readonly #journalMax: JournalMax;
  readonly #entry = new JournalEntry();
  readonly #page = new PayloadPage();
  #nextPage: number;
  #traceCount: number;
  #rollupsSinceDay = 0;
  #journal: { traces: number; batches: number };

  /** `open` opens the file, after it was made private. */
  constructor(path: string, journalMax: JournalMax = JOURNAL_MAX, open: (path: string) => DatabaseSync = openDatabase) {
    this.#journalMax = journalMax;
    makePrivateFile(path);
    this.#database = open(path);
    // First of all, because this refuses files that are not ours, and they stay as they are.
    createTraceTables(this.#database);
    keepDatabasePrivate(path);
    // WAL with NORMAL loses nothing when the process is killed, and at most the last moments when the machine loses power.
    this.#database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 4000;');
    this.#dictionary = new TraceDictionary(this.#database);
    this.#insertTraces = new TraceInsert(this.#database, this.#dictionary);
    this.#insertPage = this.#database.prepare(INSERT_PAGE);
    this.#insertJournal = this.#database.prepare('INSERT INTO journal (count, traces, lineages) VALUES (?, ?, ?)');
    this.#setTotal = this.#database.prepare('UPDATE totals SET value = ? WHERE name = ?');
    this.#find = this.#database.prepare('SELECT 1 FROM traces WHERE id = ?');
    this.#merger = new TraceMerger(this.#database, (scope) => this.#dictionary.tenantOf(scope));
    this.#lineages = new LineageSegments(this.#database, journalMax.traces);
    this.background = new SqliteBackgroundResponses(this.#database, this.#dictionary);
    this.#nextPage = 1 + this.#number('SELECT max(page) AS n FROM payload_pages');
    this.#traceCount = this.#number("SELECT value AS n FROM totals WHERE name = 'trace_count'");
    this.#journal = {
      traces: this.#number('SELECT sum(count) AS n FROM journal'),
      batches: this.#number('SELECT count(*) AS n FROM journal WHERE count > 0'),
    };
  }

  /** Traces in the file, exact. */
  get traceCount(): number {
    return this.#traceCount;
  }

  /** Writes a batch in one transaction, within which its records are made. Each is let go of at once: a batch of them kept a quarter of the
   *  thread busy collecting what it had promoted. */
  write(batch: RecordBatch): RecordResult[] {
    const results = writeWithFallback(batch, (records) => this.#writeAll(records), classifySqliteError);
    try {
      this.#mergeWhenDue();
    } catch {
      // What was written stays written. Maintenance tries again, and reports why it failed.
    }
    return results;
  }

  has(id: Uint8Array): boolean {
    return this.#find.get(id) !== undefined;
  }

  /** Adds the journal to the roll-ups, and ends the segment of lineages that is being filled. To be called before and after traces of
   *  another time are written: a segment that holds traces of two times makes a search for a conversation read what is between. */
  endSegment(): void {
    this.#merge();
    this.#transaction(() => this.#lineages.end());
  }

  /** Advances the time by which data is removed, and keeps it. */
  advanceRetention(nowMs: number): RetentionRun {
    const loop = { name: 'traces', newestMs: () => this.#newestTraceMs() };
    return this.#transaction(() => advanceRetention(this.#database, this.#retention, loop, nowMs));
  }

  /** Removes up to 2,000 of the oldest traces made before `createdBeforeMs`; returns what it removed. With the last of them go
   *  the roll-ups of days before that of `rollupsBeforeMs`. */
  removeOlderThan(createdBeforeMs: number, rollupsBeforeMs: number = 0): Removed[] {
    // Once a day: finding old roll-ups reads their whole table, and models and credentials of the journal are marked as used only
    // once it is added.
    const day = Math.floor(rollupsBeforeMs / DAY_MS);
    // Not only a later one: after a clock was ahead and put back, roll-ups would stay until it had caught up.
    const isNewDay = day !== this.#rollupsSinceDay;
    if (isNewDay) this.#merge();
    else this.#mergeWhenDue();
    const { count, removed } = this.#transaction(() => {
      const removed = this.#removeOldest(createdBeforeMs);
      const count = removed[0]?.count ?? 0;
      // A page goes when none of its traces can be left: their clocks need not have agreed on the order.
      if (count < REMOVED_AT_ONCE) {
        this.#database.prepare('DELETE FROM payload_pages WHERE newest < ?').run(createdBeforeMs);
        this.#lineages.removeOlderThan(createdBeforeMs);
        removed.push(...removeRows(this.#database, { table: 'background_responses', column: 'created_at' }, createdBeforeMs));
        if (isNewDay) removed.push(...this.#removeRollups(day, Math.min(day, Math.floor(createdBeforeMs / DAY_MS))));
      }
      this.#setTotal.run(this.#traceCount - count, 'trace_count');
      this.#database.prepare("UPDATE totals SET value = max(value, ?) WHERE name = 'removed_before'").run(createdBeforeMs);
      return { count, removed };
    });
    this.#traceCount -= count;
    if (count < REMOVED_AT_ONCE) this.#rollupsSinceDay = day;
    return removed;
  }

  /** Writes a trace and as many bytes as one needs, and takes both back: throws when traces could not be written either. What is rolled back
   *  never reaches a full disk, and a trace that is committed is seen. Page 0 is no trace's; what a crash leaves of it goes with retention. */
  probe(): void {
    try {
      this.#transaction(() => {
        this.#insertAll([probeRecord(Date.now())]);
        throw ROLLED_BACK;
      });
    } catch (error) {
      if (error !== ROLLED_BACK) throw error;
    }
    const insert = this.#database.prepare('INSERT OR REPLACE INTO payload_pages VALUES (0, 0, 0, 0, zeroblob(?))');
    this.#transaction(() => void insert.run(PROBE_BYTES));
    this.#transaction(() => this.#database.exec('DELETE FROM payload_pages WHERE page = 0'));
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }

  #newestTraceMs(): number | undefined {
    const id = this.#database.prepare('SELECT max(id) AS id FROM traces').get()?.['id'];
    return id instanceof Uint8Array ? createdAtOf(id) : undefined;
  }

  #removeOldest(createdBeforeMs: number): Removed[] {
    const some = `SELECT id FROM traces WHERE id < ? ORDER BY id LIMIT ${REMOVED_AT_ONCE}`;
    const found = this.#database.prepare(`SELECT count(*) AS count, min(id) AS oldest, max(id) AS newest FROM (${some})`);
    const { count, oldest, newest } = found.get(firstIdOf(createdBeforeMs)) ?? {};
    if (!(oldest instanceof Uint8Array && newest instanceof Uint8Array)) return [];
    this.#database.prepare('DELETE FROM traces WHERE id <= ?').run(newest);
    return [{ what: 'traces', count: Number(count), oldest: createdAtOf(oldest), newest: createdAtOf(newest) }];
  }

  /** Whole days go, so that hours and days agree. Models and credentials go when neither roll-ups nor traces refer to them. */
  #removeRollups(day: number, unusedSinceDay: number): Removed[] {
    const removed = [
      ...removeRows(this.#database, { table: 'rollups', column: 'start' }, day * DAY_MS),
      ...removeRows(this.#database, { table: 'day_usage', column: 'day', unitMs: DAY_MS }, day * DAY_MS),
    ];
    const forgotten = ['models', 'credentials'].map((table) =>
      Number(this.#database.prepare(`DELETE FROM ${table} WHERE used_day < ?`).run(unusedSinceDay).changes),
    );
    if (forgotten.some((count) => count > 0)) this.#dictionary.forget();
    return removed;
  }

  #writeAll(records: Iterable<TraceRecord>): 'written' | 'already_there' {
    const entry = this.#entry;
    try {
      this.#transaction(() => this.#insertAll(records));
    } catch (error) {
      // A whole batch is tried again one by one.
      if (error === ALREADY_THERE && entry.count === 1) return 'already_there';
      throw error;
    }
    this.#traceCount += entry.count;
    this.#journal.traces += entry.count;
    this.#journal.batches += 1;
    return 'written';
  }

  #insertAll(records: Iterable<TraceRecord>): void {
    const [entry, traces] = [this.#entry, this.#insertTraces];
    entry.clear();
    traces.start();
    const page = this.#page;
    page.clear();
    for (const record of records) {
      traces.add(record, this.#nextPage * PAYLOADS_PER_PAGE + page.count, entry);
      page.add(record, record.created_at);
      if (!page.isFull) continue;
      this.#insertPayloads(page);
      page.clear();
    }
    traces.end();
    if (page.count > 0) this.#insertPayloads(page);
    this.#insertJournal.run(entry.count, entry.bytes(), entry.lineages());
    this.#setTotal.run(this.#traceCount + entry.count, 'trace_count');
  }

  #insertPayloads(page: PayloadPage): void {
    const payloads = page.pack();
    this.#insertPage.run(this.#nextPage, page.newest, page.count, payloads.length, zstdCompressSync(payloads, FASTEST));
    this.#nextPage += 1;
  }

  #mergeWhenDue(): void {
    const { traces, batches } = this.#journalMax;
    if (this.#journal.traces >= traces || this.#journal.batches >= batches) this.#merge();
  }

  #merge(): void {
    // Should it fail, it is tried again when as much has come again.
    const { traces } = this.#journal;
    this.#journal = { traces: 0, batches: 0 };
    this.#transaction(() => {
      const entries = this.#database.prepare('SELECT traces, lineages FROM journal').all();
      this.#merger.merge(readJournal(entries.map((entry) => numbersOf(entry['traces'] as Uint8Array))));
      this.#lineages.add(
        entries.map((entry) => numbersOf(entry['lineages'] as Uint8Array)),
        traces,
      );
      // The last entry stays, empty: numbers of batches are not given again, so that a reader knows what it has read.
      this.#database.exec(`DELETE FROM journal WHERE batch < (SELECT max(batch) FROM journal);
        UPDATE journal SET count = 0, traces = x'', lineages = x''`);
    });
  }

  #transaction<T>(work: () => T): T {
    // One that could not be rolled back when it failed would fail every later one.
    if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      this.#database.exec('COMMIT');
      return result;
    } catch (error) {
      this.#dictionary.forget();
      // A full disk makes SQLite roll back by itself; a second ROLLBACK would hide the reason.
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  #number(sql: string): number {
    return Number(this.#database.prepare(sql).get()?.['n'] ?? 0);
  }
}

function openDatabase(path: string): DatabaseSync {
  return new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
}
