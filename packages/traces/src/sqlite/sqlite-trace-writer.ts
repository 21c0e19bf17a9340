import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { constants, zstdCompressSync } from 'node:zlib';
import { firstIdOf } from '../trace-id.ts';
import type { TraceRecord } from '../trace-record.ts';
import { writeWithFallback, type FailureClass, type WriteResult } from '../write-failure.ts';
import { PAYLOADS_PER_PAGE, PayloadPage } from './payload-page.ts';
import { createTraceTables } from './trace-tables.ts';

/** How long a write waits for another process's lock before it counts as contention. */
const BUSY_TIMEOUT_MS = 2_000;
/** Traces removed by one call of `removeOlderThan`: about 10 ms of work, so that writes are never held up for long. */
const REMOVED_AT_ONCE = 2_000;

const INSERT_TRACE = `INSERT INTO traces VALUES (${Array(23).fill('?').join(',')}) ON CONFLICT (id) DO NOTHING`;
const INSERT_PAGE = 'INSERT INTO payload_pages VALUES (?,?,?,?,?)';
const FASTEST = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** The only writer of an embedded trace store. Synchronous: it lives on a worker thread (`trace-worker.ts`). */
export class SqliteTraceWriter implements Disposable {
  readonly #database: DatabaseSync;
  readonly #insertTrace: StatementSync;
  readonly #insertPage: StatementSync;
  readonly #setTotal: StatementSync;
  #nextPage: number;
  #traceCount: number;
  #latencyMsMax: number;

  constructor(path: string) {
    this.#database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
    // WAL with NORMAL loses nothing when the process is killed, and at most the last moments when the machine loses power.
    this.#database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 4000;');
    createTraceTables(this.#database);
    this.#insertTrace = this.#database.prepare(INSERT_TRACE);
    this.#insertPage = this.#database.prepare(INSERT_PAGE);
    this.#setTotal = this.#database.prepare('UPDATE totals SET value = ? WHERE name = ?');
    this.#nextPage = 1 + this.#number('SELECT max(page) AS n FROM payload_pages');
    this.#traceCount = this.#number("SELECT value AS n FROM totals WHERE name = 'trace_count'");
    this.#latencyMsMax = this.#number("SELECT value AS n FROM totals WHERE name = 'latency_ms_max'");
  }

  /** Traces in the file, exact. */
  get traceCount(): number {
    return this.#traceCount;
  }

  /** Writes the traces that `derive` makes of `count` items, in one transaction. Each is made when its turn comes and let go of at
   *  once: a batch of them kept a quarter of the thread busy collecting what it had promoted. */
  write<T>(count: number, items: () => Iterable<T>, derive: (item: T) => TraceRecord): WriteResult {
    return writeWithFallback(count, items, (some) => this.#writeAll(some, derive), failureClassOf);
  }

  /** Removes up to 2,000 of the oldest traces made before `createdBeforeMs`; answers how many it removed. */
  removeOlderThan(createdBeforeMs: number): number {
    return this.#transaction(() => {
      const bound = firstIdOf(createdBeforeMs);
      const oldest = `SELECT id FROM traces WHERE id < ? ORDER BY id LIMIT ${REMOVED_AT_ONCE}`;
      const removed = Number(this.#database.prepare(`DELETE FROM traces WHERE id IN (${oldest})`).run(bound).changes);
      // A page goes when none of its traces can be left: their clocks need not have agreed on the order.
      if (removed < REMOVED_AT_ONCE) this.#database.prepare('DELETE FROM payload_pages WHERE newest < ?').run(createdBeforeMs);
      this.#setTotal.run(this.#traceCount - removed, 'trace_count');
      return { result: removed, traceCount: this.#traceCount - removed, latencyMsMax: this.#latencyMsMax };
    });
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }

  #writeAll<T>(items: Iterable<T>, derive: (item: T) => TraceRecord): void {
    this.#transaction(() => {
      let { traceCount, latencyMsMax } = { traceCount: this.#traceCount, latencyMsMax: this.#latencyMsMax };
      let page = new PayloadPage();
      for (const item of items) {
        const record = derive(item);
        if (!this.#insert(record, this.#nextPage * PAYLOADS_PER_PAGE + page.count)) continue;
        traceCount += 1;
        if (record.latency_ms > latencyMsMax) latencyMsMax = record.latency_ms;
        page.add(record, record.created_at);
        if (!page.isFull) continue;
        this.#insertPayloads(page);
        page = new PayloadPage();
      }
      if (page.count > 0) this.#insertPayloads(page);
      this.#setTotal.run(traceCount, 'trace_count');
      if (latencyMsMax !== this.#latencyMsMax) this.#setTotal.run(latencyMsMax, 'latency_ms_max');
      return { result: undefined, traceCount, latencyMsMax };
    });
  }

  #insertPayloads(page: PayloadPage): void {
    const payloads = page.pack();
    this.#insertPage.run(this.#nextPage, page.newest, page.count, payloads.length, zstdCompressSync(payloads, FASTEST));
    this.#nextPage += 1;
  }

  #insert(r: TraceRecord, payload: number): boolean {
    const { lineage } = r;
    const { changes } = this.#insertTrace.run(
      r.id,
      r.timestamp,
      r.provider,
      r.model,
      r.request_method,
      r.request_path,
      r.response_status,
      r.outcome,
      r.input_tokens,
      r.output_tokens,
      r.total_tokens,
      r.usage_status,
      r.latency_ms,
      r.time_to_first_token_us,
      r.api_key_hash ?? null,
      r.estimated_cost_usd,
      r.cost_status,
      lineage.trace_group_id ?? null,
      lineage.thread_id ?? null,
      lineage.run_id ?? null,
      lineage.parent_checkpoint_id ?? null,
      lineage.checkpoint_seq ?? null,
      payload,
    );
    return changes !== 0;
  }

  /** Totals in memory follow the file only once the transaction has committed. */
  #transaction<T>(work: () => { result: T; traceCount: number; latencyMsMax: number }): T {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      const { result, traceCount, latencyMsMax } = work();
      this.#database.exec('COMMIT');
      this.#traceCount = traceCount;
      this.#latencyMsMax = latencyMsMax;
      return result;
    } catch (error) {
      // A full disk makes SQLite roll back by itself; a second ROLLBACK would hide the reason.
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  #number(sql: string): number {
    return Number(this.#database.prepare(sql).get()?.['n'] ?? 0);
  }
}

const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;
const SQLITE_INTERRUPT = 9;
const SQLITE_IOERR = 10;
const SQLITE_CANTOPEN = 14;
const SQLITE_CONSTRAINT = 19;

/** The class of an SQLite error, by its primary result code. A full disk has no class of its own: `unknown`. */
export function failureClassOf(error: unknown): FailureClass {
  const code = typeof error === 'object' && error !== null && 'errcode' in error ? Number(error.errcode) & 0xff : 0;
  if (code === SQLITE_INTERRUPT) return 'timeout';
  if (code === SQLITE_IOERR || code === SQLITE_CANTOPEN) return 'connection';
  if (code === SQLITE_BUSY || code === SQLITE_LOCKED) return 'contention';
  if (code === SQLITE_CONSTRAINT) return 'constraint';
  return 'unknown';
}
