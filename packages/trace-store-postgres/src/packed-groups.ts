import { routeOf, type MeasureQuery } from '@vitrine/traces/trace-measures';

/** What rows of `trace_sums_packed_*` are grouped by. */
export const PACKED_GROUPS = ['provider', 'model', 'key', 'api_key_hash'] as const;
export type PackedGroup = (typeof PACKED_GROUPS)[number];

/** What those of a single tenant are grouped by: its sums by credential are few rows as they are. */
export const PACKED_GROUPS_OF_TENANTS: readonly PackedGroup[] = ['provider', 'model', 'key'];

/** The columns of `trace_hours`, behind `hour_` and `day_`, that say whether packed rows are complete: those of each tenant by provider came
 *  later, and an older version packs without them. */
export const PACKED_MARKS = ['is_packed', 'is_packed_by_provider'] as const;
export type PackedMark = (typeof PACKED_MARKS)[number];

/** The packed rows that hold a query's measures; undefined where it has to read the rows of each group, as with a filter. */
export function packedGroupOf({ groupBy, tenant, provider, model }: MeasureQuery): PackedGroup | undefined {
  if (provider !== undefined || model !== undefined) return undefined;
  // Without a group any rows do: the fewest groups.
  const group =
    groupBy === undefined ? (tenant === undefined ? 'provider' : 'model') : groupBy === 'route' ? 'provider' : groupBy;
  return tenant === undefined || PACKED_GROUPS_OF_TENANTS.includes(group) ? group : undefined;
}

/** The mark of the rows of a group. */
export function packedMarkOf({ tenant }: MeasureQuery, group: PackedGroup): PackedMark {
  return tenant !== undefined && group === 'provider' ? 'is_packed_by_provider' : 'is_packed';
}

/** Whether each packed group is a group of the query. */
export function isGroupOfPacked({ groupBy }: MeasureQuery): boolean {
  return groupBy !== undefined && groupBy !== 'route';
}

/** The group of a query to which a packed group belongs. */
export function groupOfPacked({ groupBy }: MeasureQuery, name: string): string {
  if (groupBy === undefined) return '';
  return groupBy === 'route' ? routeOf(name) : name;
}
