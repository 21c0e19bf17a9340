import { pagesOf } from '@vitrine/postgres/pages-of';
import type { Transaction } from '@vitrine/postgres/transaction';
import { ALL_TENANTS } from './all-tenants.ts';
import { forEachNumber } from './numbers-in.ts';
import { PACKED_GROUPS, PACKED_GROUPS_OF_TENANTS, type PackedGroup } from './packed-groups.ts';
import { packLatencies } from './packed-latencies.ts';

/** Groups of a row: at most 300 KB of sums, and a megabyte of histograms. */
const CHUNK_GROUPS = 1_024;
/** Rows that one INSERT writes. */
const ROWS_AT_ONCE = 32;
/** Sums that are read at once: 5 ms of work, during which the thread does nothing else. */
const PAGE_ROWS = 500;

const NAME = { provider: 'provider', model: 'model', key: 'gateway_key_id', api_key_hash: 'api_key_hash' } as const;
/** Columns that are JSON arrays, and the element that a group has. As texts: a sum may be beyond what a number holds. */
const SUMS = {
  requests: 'sum(requests)',
  errors_4xx: 'sum(errors_4xx)',
  errors_5xx: 'sum(errors_5xx)',
  streams: 'sum(streams)',
  input_tokens: 'sum(input_tokens)',
  output_tokens: 'sum(output_tokens)',
  total_tokens: 'sum(total_tokens)',
  cost_usd: 'to_json(sum(cost_usd)::text)',
  latency_ms: 'sum(latency_ms)',
  latency_ms_min: 'min(latency_ms_min)',
  latency_ms_max: 'max(latency_ms_max)',
  first_token_us: 'sum(first_token_us)',
  last_active_at: 'floor(extract(epoch FROM max(last_active_at)) * 1000)',
} as const;
type SumColumn = keyof typeof SUMS;
const SUM_COLUMNS = Object.keys(SUMS) as readonly SumColumn[];

type GroupRow = Readonly<Record<SumColumn | 'name' | 'latencies', string>> & RowKey;
interface RowKey {
  readonly grouped_by: PackedGroup;
  readonly bucket: number;
  readonly org_id: string;
  readonly workspace_id: string;
}

/** Writes the packed rows of hours or days from the sums of each group, instead of those that are there. The caller has locked their
 *  `trace_hours`, and the rows of all tenants by model are complete. */
export async function packSums(transaction: Transaction, unit: 'hour' | 'day', buckets: readonly Date[]): Promise<void> {
  await transaction.execute(`DELETE FROM trace_sums_packed_${unit} WHERE bucket_start = ANY ($1)`, [buckets]);
  let packed: PackedRow[] = [];
  for await (const page of pagesOf<GroupRow>(transaction, groupsOf(unit), [buckets], PAGE_ROWS))
    for (const row of page) {
      const last = packed.at(-1);
      if (last?.takes(row) === true) last.add(row);
      else {
        const next = new PackedRow(row, last?.isOf(row) === true ? last.chunk + 1 : 0);
        if (packed.length === ROWS_AT_ONCE) {
          await insertRows(transaction, unit, packed);
          packed = [];
        }
        next.add(row);
        packed.push(next);
      }
    }
  if (packed.length > 0) await insertRows(transaction, unit, packed);
}

/** In the order of packed rows, so that one is made at a time, however many groups there are. */
function groupsOf(unit: 'hour' | 'day'): string {
  const selects = PACKED_GROUPS.flatMap((group) =>
    [true, ...(PACKED_GROUPS_OF_TENANTS.includes(group) ? [false] : [])].map((ofAll) => groupsBy(unit, group, ofAll)),
  );
  return `${selects.join(' UNION ALL ')} ORDER BY grouped_by, bucket, org_id, workspace_id, name`;
}

function groupsBy(unit: 'hour' | 'day', group: PackedGroup, ofAllTenants: boolean): string {
  const isByKey = group === 'key' || group === 'api_key_hash';
  const tenant = ofAllTenants
    ? `'${ALL_TENANTS.org_id}' COLLATE "C" AS org_id, '${ALL_TENANTS.workspace_id}' COLLATE "C" AS workspace_id`
    : 'org_id, workspace_id';
  const sums = SUM_COLUMNS.map((column) => `(${SUMS[column]})::text AS ${column}`);
  return `SELECT '${group}' AS grouped_by, bucket_start AS bucket, ${tenant}, ${NAME[group]} AS name, ${sums.join(', ')},
      string_agg(array_to_string(latencies, ','), ',') AS latencies
    FROM trace_sums_by_${isByKey ? 'key' : 'model'}_${unit}
    WHERE bucket_start = ANY ($1) AND org_id ${ofAllTenants && !isByKey ? '=' : '<>'} '${ALL_TENANTS.org_id}'
    GROUP BY 2, 3, 4, 5`;
}

/** A row of `trace_sums_packed_*` while its groups are added. */
class PackedRow {
  readonly key: RowKey;
  readonly chunk: number;
  readonly #names: string[] = [];
  readonly #sums = new Map<SumColumn, string[]>(SUM_COLUMNS.map((column) => [column, []]));
  readonly #latencies: number[] = [];

  constructor(key: RowKey, chunk: number) {
    this.key = key;
    this.chunk = chunk;
  }

  isOf({ grouped_by: group, bucket, org_id: org, workspace_id: workspace }: RowKey): boolean {
    const { key } = this;
    return key.grouped_by === group && key.bucket === bucket && key.org_id === org && key.workspace_id === workspace;
  }

  takes(row: RowKey): boolean {
    return this.isOf(row) && this.#names.length < CHUNK_GROUPS;
  }

  add(row: GroupRow): void {
    this.#names.push(row.name);
    for (const [column, values] of this.#sums) values.push(row[column]);
    packLatencies(this.#latencies, pairsIn(row.latencies));
  }

  /** Values of the columns as texts. */
  values(): string[] {
    const { grouped_by: group, bucket, org_id: org, workspace_id: workspace } = this.key;
    const sums = [...this.#sums.values()].map((values) => `[${values.join(',')}]`);
    const latencies = `\\x${Buffer.from(this.#latencies).toString('hex')}`;
    const names = JSON.stringify(this.#names);
    return [group, new Date(bucket).toISOString(), org, workspace, String(this.chunk), names, ...sums, latencies];
  }
}

const COLUMNS: readonly (readonly [name: string, type: string])[] = [
  ['grouped_by', 'text'],
  ['bucket_start', 'timestamptz'],
  ['org_id', 'text'],
  ['workspace_id', 'text'],
  ['chunk', 'integer'],
  ...['names', ...SUM_COLUMNS].map((name) => [name, 'json'] as const),
  ['latencies', 'bytea'],
];

async function insertRows(transaction: Transaction, unit: 'hour' | 'day', rows: readonly PackedRow[]): Promise<void> {
  const values = rows.map((row) => row.values());
  const names = COLUMNS.map(([name]) => name).join(', ');
  const arrays = COLUMNS.map((_, at) => `$${at + 1}::text[]`);
  await transaction.execute(
    `INSERT INTO trace_sums_packed_${unit} (${names}) SELECT ${COLUMNS.map(([name, type]) => `${name}::${type}`).join(', ')}
     FROM unnest(${arrays.join(', ')}) AS rows (${names})`,
    COLUMNS.map((_, at) => values.map((row) => row[at])),
  );
}

/** Sums of writers have a bucket several times, in any order. */
function pairsIn(latencies: string): [bucket: number, count: number][] {
  const counts = new Map<number, number>();
  let bucket: number | undefined;
  forEachNumber(latencies, (number) => {
    if (bucket !== undefined) counts.set(bucket, (counts.get(bucket) ?? 0) + number);
    bucket = bucket === undefined ? number : undefined;
  });
  return [...counts].toSorted(([left], [right]) => left - right);
}
