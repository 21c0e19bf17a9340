import { createdAtOf } from '@vitrine/traces/trace-id';
import type { BodyField, TraceField, TraceRecord } from '@vitrine/traces/trace-record';
import { picoIn, thousandsIn, usdText } from '@vitrine/traces/usd';

/** The type of a column, and its value as text. */
type Column = readonly [type: string, value: (record: TraceRecord) => string | null];
type Columns<Name extends string> = Readonly<Record<Name, Column>>;
/** A row, or its source. */
export type TextRow = readonly (string | null)[];

/** Every field of a record. A missing one does not compile. */
export const TRACE_COLUMNS: Columns<TraceField> = {
  id: ['uuid', ({ id }) => Buffer.from(id).toString('hex')],
  // The time in the id, by which readers find the partition.
  created_at: ['timestamptz', ({ id }) => timeText(createdAtOf(id))],
  timestamp: ['timestamptz', ({ timestamp }) => timeText(timestamp)],
  org_id: ['text', ({ scope }) => scope.org_id],
  workspace_id: ['text', ({ scope }) => scope.workspace_id],
  gateway_key_id: ['text', ({ scope }) => scope.gateway_key_id],
  role: ['text', ({ scope }) => scope.role],
  provider: ['text', ({ provider }) => provider],
  model: ['text', ({ model }) => model],
  request_method: ['text', ({ request_method: method }) => method],
  request_path: ['text', ({ request_path: path }) => path],
  response_status: ['smallint', ({ response_status: status }) => numberText(status)],
  outcome: ['text', ({ outcome }) => outcome],
  input_tokens: ['bigint', ({ input_tokens: tokens }) => numberText(tokens)],
  output_tokens: ['bigint', ({ output_tokens: tokens }) => numberText(tokens)],
  total_tokens: ['bigint', ({ total_tokens: tokens }) => numberText(tokens)],
  usage_status: ['text', ({ usage_status: status }) => status],
  latency_ms: ['bigint', ({ latency_ms: ms }) => numberText(ms)],
  time_to_first_token_us: ['bigint', ({ time_to_first_token_us: us }) => numberText(us)],
  api_key_hash: ['bytea', ({ api_key_hash: hash }) => (hash === undefined ? null : `\\x${Buffer.from(hash).toString('hex')}`)],
  estimated_cost_usd: ['numeric', ({ estimated_cost_usd: usd }) => costText(usd)],
  cost_status: ['text', ({ cost_status: status }) => status],
  trace_group_id: ['text', ({ lineage }) => lineage.trace_group_id ?? null],
  // Only meaningful with a group.
  group_fallback: [
    'boolean',
    ({ lineage: { trace_group_id: group, group_fallback: isFallback } }) =>
      group === undefined ? null : isFallback === true ? 't' : 'f',
  ],
  thread_id: ['text', ({ lineage }) => lineage.thread_id ?? null],
  run_id: ['text', ({ lineage }) => lineage.run_id ?? null],
  parent_checkpoint_id: ['text', ({ lineage }) => lineage.parent_checkpoint_id ?? null],
  checkpoint_seq: ['bigint', ({ lineage }) => numberText(lineage.checkpoint_seq)],
};

export const BODY_COLUMNS: Columns<BodyField | 'id' | 'created_at'> = {
  id: TRACE_COLUMNS.id,
  created_at: TRACE_COLUMNS.created_at,
  request_headers: ['text', (record) => record.request_headers],
  response_headers: ['text', (record) => record.response_headers],
  request_body: ['text', (record) => record.request_body ?? null],
  response_body: ['text', (record) => record.response_body ?? null],
  metadata: ['text', (record) => record.metadata],
};

/** The statements that write rows to a table. */
class RowTable {
  /** For rows from `copyText`. */
  readonly copy: string;
  /** For the arrays from `columnsOf`; returns the ids of new rows. */
  readonly insertNew: string;
  readonly #columns: readonly Column[];

  constructor(table: string, columns: Columns<string>) {
    this.#columns = Object.values(columns);
    const names = columnList(Object.keys(columns));
    const arrays = this.#columns.map(([type], at) => `$${at + 1}::${type}[]`).join(', ');
    this.copy = `COPY ${table} (${names}) FROM STDIN`;
    this.insertNew = `INSERT INTO ${table} (${names}) SELECT * FROM unnest(${arrays})
      ON CONFLICT (id, created_at) DO NOTHING RETURNING id`;
  }

  copyText(records: readonly TraceRecord[]): Buffer {
    let text = '';
    for (const record of records) {
      let separator = '';
      for (const [, value] of this.#columns) {
        text += separator + copyValue(value(record));
        separator = '\t';
      }
      text += '\n';
    }
    return Buffer.from(text);
  }

  columnsOf(records: readonly TraceRecord[]): TextRow[] {
    return this.#columns.map(([, value]) => records.map(value));
  }
}

export const TRACES: RowTable = new RowTable('traces', TRACE_COLUMNS);
export const TRACE_BODIES: RowTable = new RowTable('trace_bodies', BODY_COLUMNS);

export function columnList(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}

export function timeText(ms: number): string {
  const text = new Date(ms).toISOString();
  // Years beyond 9999 have a sign and a zero in ISO 8601, which Postgres does not read.
  return text.startsWith('+') ? text.replace(/^\+0*/, '') : text;
}

/** Decimal digits to the trillionth, as sums count them. */
function costText(usd: number): string {
  if (usd === 0) return '0';
  const thousands = thousandsIn(usd);
  return usdText(thousands, picoIn(usd, thousands));
}

/** Null for an invalid number, which the column refuses. */
function numberText(value: number | null | undefined): string | null {
  return value === undefined || value === null ? null : String(value);
}

const ESCAPED = /[\\\n\r\t]/;
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** PostgreSQL, COPY, Text Format. */
function copyValue(text: string | null): string {
  if (text === null || text === undefined) return '\\N';
  return ESCAPED.test(text) ? text.replaceAll(/[\\\n\r\t]/g, (character) => ESCAPES[character] ?? character) : text;
}
