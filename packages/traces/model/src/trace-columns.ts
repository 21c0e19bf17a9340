import { BODY_FIELDS, LINEAGE_FIELDS, RECORDED_FIELDS, SCOPE_FIELDS, SERVED_FIELDS, type TraceField } from './trace-fields.ts';
import type { TraceRecord } from './trace-record.ts';

export type ColumnValue = string | number | boolean | Uint8Array | undefined;

/** A column of a store: a field, and its value in a record. */
export interface TraceColumn extends TraceField {
  readonly name: string;
  readonly of: (record: TraceRecord) => ColumnValue;
}

const { id, ...others } = RECORDED_FIELDS;

type Listed = typeof RECORDED_FIELDS &
  typeof SERVED_FIELDS &
  typeof BODY_FIELDS & { readonly scope: unknown; readonly lineage: unknown };
/** A field of a record that is in none of the lists does not compile, because stores would omit it. */
type Unlisted = Exclude<keyof TraceRecord, keyof Listed | 'background' | 'batch_files' | 'upper_tokens'>;

/** `background` and `batch_files` have a separate table; `upper_tokens` is only in sums. */
export const TRACE_COLUMNS: readonly TraceColumn[] = [
  ...columnsOf({ id }, (record) => record),
  ...columnsOf(SCOPE_FIELDS, ({ scope }) => scope),
  ...columnsOf({ ...others, ...SERVED_FIELDS }, (record) => record),
  ...columnsOf(LINEAGE_FIELDS, ({ lineage }) => lineage),
];
export const BODY_COLUMNS: Unlisted extends never ? readonly TraceColumn[] : Unlisted = columnsOf(
  { id, ...BODY_FIELDS },
  (record) => record,
);

function columnsOf<Fields extends Readonly<Record<string, TraceField>>>(
  fields: Fields,
  partOf: (record: TraceRecord) => { readonly [Name in keyof Fields]?: ColumnValue },
): TraceColumn[] {
  return Object.entries<TraceField>(fields).map(([name, field]) => ({ ...field, name, of: (record) => partOf(record)[name] }));
}
