import { Fault } from '@vitrine/faults/fault';
import type { Tenant } from '@vitrine/traces/exchange-scope';
import { tenantOf, type TraceDetail } from '@vitrine/traces/trace';
import type { CheckpointQuery } from '@vitrine/traces/trace-store';
import type { OfflineTraces } from '../offline-traces/open-traces.ts';
import {
  tenantFlags,
  hasTenantFilter,
  isKnownTenant,
  matchesTenant,
  type TenantFilter,
} from '../offline-traces/tenant-filter.ts';
import type { ChainSelection } from './debug-chain.ts';

/** Tenants that are named where one has to be chosen. */
export const MAX_NAMED_TENANTS = 20;

export type LineageScope = Pick<CheckpointQuery, 'trace_group_id' | 'thread_id' | 'run_id'>;

/** The trace that was selected: by its id, as the newest with the ids of a conversation, or as the newest of all. Ids of conversations are
 *  the clients' own, so that two tenants may have the same: one of them has to be chosen then.
 *  Faults: `trace_not_found`, `ambiguous_tenant`, `storage_unusable`. */
export async function readSource(
  store: OfflineTraces,
  { trace_id: id, ...scope }: ChainSelection,
  filter: TenantFilter,
): Promise<TraceDetail> {
  const found = id ?? (await newestId(store, scope, filter));
  const source = found !== undefined && /^[0-9a-f]{32}$/.test(found) ? await store.get(found) : undefined;
  if (source !== undefined && matchesTenant(filter, tenantOf(source))) return source;
  const among = hasTenantFilter(filter) ? ` among those of ${tenantFlags(filter)}` : '';
  throw new Fault('trace_not_found', { say: `trace not found${among}` });
}

/** Who else has traces with the ids. */
export async function otherTenants(store: OfflineTraces, scope: LineageScope, own: Tenant): Promise<Tenant[]> {
  if (!hasIds(scope)) return [];
  return (await store.tenantsWith(scope)).filter((one) => !isSame(one, own));
}

export function hasIds(scope: LineageScope): boolean {
  return Object.values(scope).some((id) => id !== undefined);
}

async function newestId(store: OfflineTraces, scope: LineageScope, filter: TenantFilter): Promise<string | undefined> {
  if (!hasIds(scope) && !hasTenantFilter(filter)) return (await store.checkpoints({ limit: 1 }))[0]?.id;
  const tenants = await tenantsMeant(store, scope, filter);
  const newest = await Promise.all(tenants.map((tenant) => store.checkpoints({ ...scope, tenant, limit: 1 })));
  // Ids of traces are in the order of time.
  return newest
    .flatMap((checkpoints) => checkpoints.map(({ id }) => id))
    .toSorted()
    .at(-1);
}

/** The one tenant that has the ids; without ids, all that the filter names. */
async function tenantsMeant(store: OfflineTraces, scope: LineageScope, filter: TenantFilter): Promise<Tenant[]> {
  if (!hasIds(scope)) return (await store.tenants()).filter((tenant) => matchesTenant(filter, tenant));
  const all = (await store.tenantsWith(scope)).filter((tenant) => matchesTenant(filter, tenant));
  // Whoever is unknown may send any id: that must not make a tenant's own ambiguous.
  const known = all.filter(isKnownTenant);
  if (known.length > 1) throw ambiguous(scope, known);
  return known.length === 1 ? known : all;
}

function ambiguous(scope: LineageScope, tenants: readonly Tenant[]): Fault {
  const names = [
    ['group', scope.trace_group_id],
    ['thread', scope.thread_id],
    ['run', scope.run_id],
  ].flatMap(([name, id]) => (id === undefined ? [] : [`${name} ${id}`]));
  return new Fault('ambiguous_tenant', {
    say: [`${names.join(' and ')} is in ${tenants.length} tenants; choose one:`, ...tenantLines(tenants, tenants.length)].join(
      '\n',
    ),
  });
}

/** A line for each tenant with the options that choose it, and one for those that are too many. */
export function tenantLines(tenants: readonly Tenant[], count: number): string[] {
  const named = tenants.slice(0, MAX_NAMED_TENANTS);
  const lines = named.map((tenant) => `  ${isKnownTenant(tenant) ? tenantFlags(tenant) : 'no tenant: the callers were unknown'}`);
  return count > named.length ? [...lines, `  and ${count - named.length} more`] : lines;
}

function isSame(one: Tenant, other: Tenant): boolean {
  return one.org_id === other.org_id && one.workspace_id === other.workspace_id;
}
