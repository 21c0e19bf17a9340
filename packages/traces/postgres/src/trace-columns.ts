import type { Recorded } from '@vitrine/traces/field-schemas';
import { BODY_COLUMNS, TRACE_COLUMNS, type TraceColumn } from '@vitrine/traces/trace-columns';
import type { FieldKind } from '@vitrine/traces/trace-fields';
import { createdAtOf } from '@vitrine/traces/trace-id';
import type { TraceRecord } from '@vitrine/traces/trace-record';
import { picoIn, thousandsIn, usdText } from '@vitrine/traces/usd';

/** The type of a column, and its value as text. */
type Column = readonly [type: string, value: (record: TraceRecord) => string | null];
/** A row, or its source. */
export type TextRow = readonly (string | null)[];

/** The type of a column, and the text of a value. */
const KINDS: { readonly [Kind in FieldKind]: readonly [type: string, text: (value: Recorded<Kind>) => string] } = {
  id: ['uuid', hexOf],
  time: ['timestamptz', timeText],
  text: ['text', (text) => text],
  count: ['bigint', String],
  status: ['smallint', String],
  hash: ['bytea', (hash) => `\\x${hexOf(hash)}`],
  usd: ['numeric', costText],
  boolean: ['boolean', (value) => (value ? 't' : 'f')],
};

/** Columns that are not the value of their field. */
const DERIVED: Readonly<Record<string, Column>> = {
  // The time in the id, by which readers find the partition.
  created_at: ['timestamptz', ({ id }) => timeText(createdAtOf(id))],
};

function columnOf({ name, kind, of }: TraceColumn): Column {
  const [type, text] = KINDS[kind];
  const textOf = (record: TraceRecord) => {
    const value = of(record);
    // An invalid value may be null, which the column refuses.
    return value === undefined || value === null ? null : text(value as never);
  };
  return DERIVED[name] ?? [type, textOf];
}

/** The statements that write rows to a table. */
class RowTable {
  /** For rows from `copyText`. */
  readonly copy: string;
  /** For the arrays from `columnsOf`; returns the ids of new rows. */
  readonly insertNew: string;
  readonly #columns: readonly Column[];

  constructor(table: string, columns: readonly TraceColumn[]) {
    this.#columns = columns.map(columnOf);
    const names = columnList(columns.map(({ name }) => name));
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

const CREATED_AT = TRACE_COLUMNS.filter(({ name }) => name === 'created_at');
export const TRACES: RowTable = new RowTable('traces', TRACE_COLUMNS);
export const TRACE_BODIES: RowTable = new RowTable('trace_bodies', [...BODY_COLUMNS, ...CREATED_AT]);

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

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

const ESCAPED = /[\\\n\r\t]/;
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** PostgreSQL, COPY, Text Format. */
function copyValue(text: string | null): string {
  if (text === null || text === undefined) return '\\N';
  return ESCAPED.test(text) ? text.replaceAll(/[\\\n\r\t]/g, (character) => ESCAPES[character] ?? character) : text;
}
