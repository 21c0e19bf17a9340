import { DatabaseSync } from 'node:sqlite';

/** A row written by `ongoingai/gateway`. Omitted fields have the values of an ordinary exchange. */
export interface OngoingaiRow {
  readonly id: string;
  /** Milliseconds since the epoch, and nanoseconds of that millisecond. */
  readonly completedAt: number;
  readonly nanoseconds?: number;
  /** Columns with other values, including null. */
  readonly columns?: Readonly<Record<string, string | number | null | Uint8Array>>;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

const COLUMNS: Readonly<Record<string, string>> = {
  id: 'TEXT PRIMARY KEY',
  trace_group_id: 'TEXT',
  org_id: "TEXT NOT NULL DEFAULT 'default'",
  workspace_id: "TEXT NOT NULL DEFAULT 'default'",
  timestamp: 'DATETIME NOT NULL',
  provider: 'TEXT NOT NULL',
  model: 'TEXT NOT NULL',
  request_method: 'TEXT NOT NULL',
  request_path: 'TEXT NOT NULL',
  request_headers: 'TEXT',
  request_body: 'TEXT',
  response_status: 'INTEGER',
  response_headers: 'TEXT',
  response_body: 'TEXT',
  input_tokens: 'INTEGER',
  output_tokens: 'INTEGER',
  total_tokens: 'INTEGER',
  latency_ms: 'INTEGER',
  time_to_first_token_ms: 'INTEGER',
  time_to_first_token_us: 'INTEGER',
  api_key_hash: 'TEXT',
  estimated_cost_usd: 'REAL',
  metadata: 'TEXT',
  created_at: 'DATETIME DEFAULT CURRENT_TIMESTAMP',
  gateway_key_id: 'TEXT',
};

/** The trace file of an `ongoingai/gateway`, with its columns, open in WAL mode like in that gateway. The version before its
 *  second migration had no `gateway_key_id`. */
export class OngoingaiStore implements Disposable {
  readonly path: string;
  readonly #database: DatabaseSync;
  readonly #columns: readonly string[];

  constructor(path: string, { withKeyId = true }: { readonly withKeyId?: boolean } = {}) {
    this.path = path;
    this.#database = new DatabaseSync(path);
    this.#columns = Object.keys(COLUMNS).filter((name) => withKeyId || name !== 'gateway_key_id');
    const columns = this.#columns.map((name) => `${name} ${COLUMNS[name]}`);
    this.#database.exec(`PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS traces (${columns.join()})`);
  }

  get count(): number {
    return Number(this.#database.prepare('SELECT count(*) AS n FROM traces').get()?.['n']);
  }

  add(rows: Iterable<OngoingaiRow>): void {
    const places = this.#columns.map(() => '?').join();
    const insert = this.#database.prepare(`INSERT INTO traces (${this.#columns.join()}) VALUES (${places})`);
    this.#database.exec('BEGIN');
    for (const row of rows) {
      const values = valuesOf(row);
      insert.run(...this.#columns.map((name) => values[name] ?? null));
    }
    this.#database.exec('COMMIT');
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}

function valuesOf({ id, completedAt, nanoseconds = 0, columns = {}, metadata = {} }: OngoingaiRow) {
  const at = goTime(completedAt, nanoseconds);
  return {
    id,
    org_id: 'default',
    workspace_id: 'default',
    timestamp: at,
    provider: 'openai',
    model: 'gpt-4o-mini',
    request_method: 'POST',
    request_path: '/openai/v1/chat/completions',
    request_headers: '{"Authorization":["[REDACTED]"],"Content-Type":["application/json"]}',
    request_body: '',
    response_status: 200,
    response_headers: '{"Content-Type":["application/json"]}',
    response_body: '',
    input_tokens: 10,
    output_tokens: 5,
    total_tokens: 15,
    latency_ms: 250,
    time_to_first_token_ms: 0,
    time_to_first_token_us: 0,
    api_key_hash: 'ab'.repeat(32),
    estimated_cost_usd: 0.25,
    trace_group_id: '',
    gateway_key_id: '',
    created_at: at,
    metadata: JSON.stringify({
      lineage_checkpoint_id: id,
      lineage_immutable: true,
      redaction_applied: true,
      redaction_counts: { header: 1 },
      redaction_mode: 'off',
      redaction_policy_id: 'default/v1',
      stream_chunks: 0,
      streaming: false,
      ...metadata,
    }),
    ...columns,
  } as Readonly<Record<string, string | number | null | Uint8Array>>;
}

/** A time in the format of that gateway's SQLite driver: Go's text, without trailing zeros in the fraction. */
export function goTime(ms: number, nanoseconds = 0): string {
  const whole = new Date(ms).toISOString();
  const fraction = `${whole.slice(20, 23)}${String(nanoseconds).padStart(6, '0')}`.replace(/0+$/, '');
  return `${whole.slice(0, 10)} ${whole.slice(11, 19)}${fraction === '' ? '' : `.${fraction}`} +0000 UTC`;
}
