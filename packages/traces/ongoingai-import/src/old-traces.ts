import { codeOf, Fault, messageOf } from '@vitrine/faults/fault';
import { existsSync, statSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { parseOldTime, type OldTime } from './old-time.ts';
import { oldTraceColumns } from './old-trace-file.ts';

/** Rows of one read transaction. Between two, the old gateway, which may be running, can checkpoint its WAL. */
const PAGE_ROWS = 2_048;
/** A page ends early when its rows have this size. */
const PAGE_BYTES = 8 * 1_048_576;
/** How long a read waits for another process's lock, which happens only outside WAL mode. */
const BUSY_TIMEOUT_MS = 5_000;

/** A row of the old file. Numbers are integers from 0 to 2^53 - 1; missing values are 0 or null. */
export interface OldTraceRow {
  readonly rowid: number;
  readonly id: string | null;
  readonly trace_group_id: string | null;
  readonly org_id: string | null;
  readonly workspace_id: string | null;
  readonly gateway_key_id: string | null;
  readonly timestamp: string | null;
  readonly created_at: string | null;
  readonly provider: string | null;
  readonly model: string | null;
  readonly request_method: string | null;
  readonly request_path: string | null;
  readonly request_headers: string | null;
  readonly response_headers: string | null;
  readonly metadata: string | null;
  readonly api_key_hash: string | null;
  readonly response_status: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly total_tokens: number;
  readonly latency_ms: number;
  readonly time_to_first_token_ms: number;
  readonly time_to_first_token_us: number;
  readonly estimated_cost_usd: number;
  /** The first bytes of bodies, up to the requested bound. */
  readonly request_body: Uint8Array | null;
  readonly response_body: Uint8Array | null;
  /** Their whole lengths. */
  readonly request_body_bytes: number;
  readonly response_body_bytes: number;
}

const TEXTS = words(`id trace_group_id org_id workspace_id gateway_key_id timestamp created_at provider model request_method
  request_path request_headers response_headers metadata api_key_hash`);
const NUMBERS = words(`response_status input_tokens output_tokens total_tokens latency_ms time_to_first_token_ms
  time_to_first_token_us`);
const BODIES = words('request_body response_body');

/** Reads the trace file of an `ongoingai/gateway`, which may be running, over a connection that cannot write. */
export class OldTraces implements Disposable {
  readonly #database: DatabaseSync;
  readonly #page: StatementSync;
  readonly #count: StatementSync;
  readonly #createdAt: StatementSync;

  /** Reads `bodyMaxBytes` of each body. Faults: `import_source_unusable`. */
  constructor(path: string, bodyMaxBytes: number) {
    this.#database = openOldFile(path);
    try {
      const columns = oldTraceColumns(this.#database);
      if (columns === undefined) throw unusable(path, 'it contains no traces of ongoingai/gateway');
      const selected = selectedColumns(columns, bodyMaxBytes);
      this.#page = this.#database.prepare(
        `SELECT rowid, ${selected} FROM traces WHERE rowid > ? ORDER BY rowid LIMIT ${PAGE_ROWS}`,
      );
      this.#count = this.#database.prepare('SELECT count(*) AS n FROM traces WHERE rowid <= ?');
      this.#createdAt = this.#database.prepare(
        'SELECT CAST(created_at AS TEXT) AS created_at, CAST(timestamp AS TEXT) AS timestamp FROM traces WHERE id = ?',
      );
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /** The number of rows up to a row; of all rows by default. */
  count(upToRowid: number = Number.MAX_SAFE_INTEGER): number {
    return Number(this.#count.get(upToRowid)?.['n']);
  }

  /** The next rows in the order in which they were written; empty at the end. */
  after(rowid: number): OldTraceRow[] {
    const rows: OldTraceRow[] = [];
    let bytes = 0;
    for (const row of this.#page.iterate(rowid) as Iterable<unknown> as Iterable<OldTraceRow>) {
      rows.push(row);
      bytes += sizeOf(row);
      if (bytes >= PAGE_BYTES) break;
    }
    return rows;
  }

  /** The creation time of the trace with an old id; undefined when there is none. */
  createdAtOf(oldId: string): OldTime | undefined {
    const row = this.#createdAt.get(oldId) as Pick<OldTraceRow, 'created_at' | 'timestamp'> | undefined;
    return row && oldCreatedAt(row);
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}

/** The creation time of a trace: the end of its exchange, which the old gateway also calls its timestamp. */
export function oldCreatedAt(row: Pick<OldTraceRow, 'created_at' | 'timestamp'>): OldTime | undefined {
  return parseOldTime(row.created_at) ?? parseOldTime(row.timestamp);
}

function openOldFile(path: string): DatabaseSync {
  if (!existsSync(path)) throw unusable(path, 'it does not exist');
  try {
    return opened(new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS }));
  } catch (cause) {
    // SQLite opens a database in WAL mode by creating two more files, which fails on a read-only disk. When its WAL is empty, the
    // database file alone is complete.
    if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) throw unusable(path, messageOf(cause), cause);
    try {
      const url = new URL(`${pathToFileURL(path).href}?immutable=1`);
      return opened(new DatabaseSync(url, { readOnly: true }));
    } catch {
      throw unusable(path, messageOf(cause), cause);
    }
  }
}

/** SQLite reads the file at the first query only, so that opening alone would not fail. */
function opened(database: DatabaseSync): DatabaseSync {
  try {
    database.prepare('SELECT count(*) FROM sqlite_schema').get();
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Columns that early versions did not have are null, or 0. */
function selectedColumns(columns: ReadonlySet<string>, bodyMaxBytes: number): string {
  const of = (name: string) => (columns.has(name) ? name : 'NULL');
  return [
    ...TEXTS.map((name) => `CAST(${of(name)} AS TEXT) AS ${name}`),
    ...NUMBERS.map((name) => `min(max(CAST(coalesce(${of(name)}, 0) AS INTEGER), 0), ${Number.MAX_SAFE_INTEGER}) AS ${name}`),
    `CAST(coalesce(${of('estimated_cost_usd')}, 0) AS REAL) AS estimated_cost_usd`,
    ...BODIES.map((name) => `substr(CAST(${of(name)} AS BLOB), 1, ${bodyMaxBytes}) AS ${name}`),
    ...BODIES.map((name) => `coalesce(length(CAST(${of(name)} AS BLOB)), 0) AS ${name}_bytes`),
  ].join();
}

function sizeOf({ request_body, response_body, request_headers, response_headers, metadata }: OldTraceRow): number {
  return [request_body, response_body, request_headers, response_headers, metadata].reduce(
    (sum, value) => sum + (value?.length ?? 0),
    0,
  );
}

function unusable(path: string, reason: string, cause?: unknown): Fault {
  const code = codeOf(cause);
  return new Fault('import_source_unusable', {
    say: `${path} cannot be imported: ${reason}${code === '' ? '' : ` (${code})`}`,
    cause,
  });
}

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}
