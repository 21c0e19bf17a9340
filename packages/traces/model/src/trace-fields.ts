import { COST_STATUSES, OUTCOMES, PROVIDERS, USAGE_STATUSES } from './trace-values.ts';

// The fields of a trace that stores keep in columns. Records, summaries and the columns of both stores derive from these lists. The tables of
// Postgres come from migrations. Without zod,
// because the threads that derive, write and read traces do not load it.

/** Incremented with every added field. A reader accepts the earlier versions since the first release, which are tested with golden files, and the
 *  next one, whose unknown fields it ignores. A change that such a reader would misinterpret has to skip a version, as 2 was. */
export const RECORD_VERSION = 4;

/** The form of a value: its schemas are in `field-schemas.ts`, its columns in `trace-columns.ts` of both stores. */
export type FieldKind = 'id' | 'time' | 'text' | 'count' | 'status' | 'hash' | 'usd' | 'boolean';

export interface TraceField {
  readonly kind: FieldKind;
  /** The only values of a text. */
  readonly values?: readonly string[];
  /** Every added field is optional, because records and rows of earlier versions lack it. */
  readonly optional?: true;
  /** The description in the OpenAPI document. */
  readonly about?: string;
}
type TraceFields = Readonly<Record<string, TraceField>>;

/** What lists show, in the order of responses. A new field is a line here, its value in `derive-trace.ts`, a step of `trace-tables.ts` of the SQLite
 *  store and a migration for Postgres. */
export const SUMMARY_FIELDS = {
  id: { kind: 'id', about: 'A UUIDv7 without dashes whose time is created_at: sorting by it sorts by time.' },
  timestamp: { kind: 'time', about: 'When the exchange started.' },
  created_at: { kind: 'time', about: 'When the exchange was finished.' },
  provider: { kind: 'text', values: PROVIDERS },
  model: { kind: 'text', about: 'From the request, else from the response, else unknown.' },
  request_method: { kind: 'text' },
  request_path: { kind: 'text', about: 'As the client sent it, without credentials in its query.' },
  response_status: {
    kind: 'status',
    about: 'Status sent to the client; 499 when it disconnected first, 502 or 504 when the provider failed.',
  },
  outcome: { kind: 'text', values: OUTCOMES, about: 'Who ended the exchange, and how.' },
  input_tokens: { kind: 'count', about: 'Including tokens read from and written to caches; 0 when unknown.' },
  output_tokens: { kind: 'count' },
  total_tokens: { kind: 'count' },
  usage_status: { kind: 'text', values: USAGE_STATUSES, about: 'Whether the token counts can be trusted.' },
  latency_ms: { kind: 'count', about: 'From the request to the end of the response.' },
  time_to_first_token_ms: { kind: 'count', about: 'Of a stream, to the nearest millisecond; otherwise 0.' },
  time_to_first_token_us: { kind: 'count' },
  api_key_hash: { kind: 'hash', optional: true, about: "SHA-256 of the provider's credential." },
  estimated_cost_usd: {
    kind: 'usd',
    about: 'US dollars, exact to 1e-12; below a millionth it is written with an exponent, as 1.5e-7.',
  },
  cost_status: {
    kind: 'text',
    values: COST_STATUSES,
    about: 'Meaning of a cost of 0: unknown when unpriced, the price when free.',
  },
  cost_upper_usd: {
    kind: 'usd',
    optional: true,
    about: 'An upper bound of the cost: equal to it when priced or free, otherwise with an estimate of what is not known.',
  },
} as const satisfies TraceFields;

const { time_to_first_token_ms: _rounded, ...recorded } = SUMMARY_FIELDS;
/** Without `time_to_first_token_ms`, which is computed for responses. */
export const RECORDED_FIELDS = recorded;

/** The model that served, if it is not the requested one. Sums are by it. */
export const SERVED_FIELDS = { response_model: { kind: 'text', optional: true } } as const satisfies TraceFields;

/** The tenant and the gateway key. */
export const SCOPE_FIELDS = {
  org_id: { kind: 'text' },
  workspace_id: { kind: 'text' },
  gateway_key_id: { kind: 'text' },
  role: { kind: 'text' },
} as const satisfies TraceFields;

/** The position in a conversation. `group_fallback`: the group is only a label (`lineage-headers.ts`). */
export const LINEAGE_FIELDS = {
  trace_group_id: { kind: 'text', optional: true },
  group_fallback: { kind: 'boolean', optional: true },
  thread_id: { kind: 'text', optional: true },
  run_id: { kind: 'text', optional: true },
  parent_checkpoint_id: { kind: 'text', optional: true },
  checkpoint_seq: { kind: 'count', optional: true },
} as const satisfies TraceFields;

/** What only the page of one trace shows. Stores keep it in a separate table. */
export const BODY_FIELDS = {
  request_headers: { kind: 'text' },
  response_headers: { kind: 'text' },
  request_body: { kind: 'text', optional: true },
  response_body: { kind: 'text', optional: true },
  metadata: { kind: 'text' },
} as const satisfies TraceFields;

/** The columns of `traces`. */
export type ColumnName =
  | keyof typeof RECORDED_FIELDS
  | keyof typeof SERVED_FIELDS
  | keyof typeof SCOPE_FIELDS
  | keyof typeof LINEAGE_FIELDS;
