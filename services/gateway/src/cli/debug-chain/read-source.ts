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

/** Listed tenants when one has to be selected. */
export const MAX_NAMED_TENANTS = 20;

export type LineageScope = Pick<CheckpointQuery, 'trace_group_id' | 'thread_id' | 'run_id'>;

/** The selected trace: by its id, the newest with the ids of a conversation, or the newest of all. Clients choose the ids of
 *  conversations, so two tenants may have the same. The filter then has to select one of them.
 *  Faults: `trace_not_found`, `ambiguous_tenant`, `storage_unusable`. */
export async function readSource(
  store: OfflineTraces,
  { trace_id: id, ...scope }: ChainSelection,
  filter: TenantFilter,
): Promise<TraceDetail> {
  const found = id ?? (await newestId(store, scope, filter));
  const source = found !== undefined && /^[0-9a-f]{32}$/.test(found) ? await store.get(found) : undefined;
  if (source !== undefined && matchesTenant(filter, tenantOf(source))) return source;
  const among = hasTenantFilter(filter) ? ` for ${tenantFlags(filter)}` : '';
  throw new Fault('trace_not_found', { say: `trace not found${among}` });
}

/** Other tenants that have traces with the ids. */
export async function otherTenants(store: OfflineTraces, scope: LineageScope, own: Tenant): Promise<Tenant[]> {
  if (!hasIds(scope)) return [];
  return (await store.tenantsWith(scope)).filter((one) => !matchesTenant(own, one));
}

export function hasIds(scope: LineageScope): boolean {
  return Object.values(scope).some((id) => id !== undefined);
}

async function newestId(store: OfflineTraces, scope: LineageScope, filter: TenantFilter): Promise<string | undefined> {
  if (!hasIds(scope) && !hasTenantFilter(filter)) return (await store.checkpoints({ limit: 1 }))[0]?.id;
  const tenants = await selectedTenants(store, scope, filter);
  const newest = await Promise.all(tenants.map((tenant) => store.checkpoints({ ...scope, tenant, limit: 1 })));
  // Trace ids sort by time.
  return newest
    .flatMap((checkpoints) => checkpoints.map(({ id }) => id))
    .toSorted()
    .at(-1);
}

/** The one tenant that has the ids; without ids, all that match the filter. */
async function selectedTenants(store: OfflineTraces, scope: LineageScope, filter: TenantFilter): Promise<Tenant[]> {
  if (!hasIds(scope)) return (await store.tenants()).filter((tenant) => matchesTenant(filter, tenant));
  const all = (await store.tenantsWith(scope)).filter((tenant) => matchesTenant(filter, tenant));
  // Unknown callers may send any id, which must not make the ids of a tenant ambiguous.
  const known = all.filter(isKnownTenant);
  if (known.length > 1) throw ambiguous(scope, known);
  return known.length === 1 ? known : all;
}

function ambiguous(scope: LineageScope, tenants: readonly Tenant[]): Fault {
  const which = lineageNames(scope).join(' and ');
  const lines = [`${which} is in ${tenants.length} tenants; select one:`, ...tenantLines(tenants, tenants.length)];
  return new Fault('ambiguous_tenant', { say: lines.join('\n') });
}

/** Each id with its kind. */
export function lineageNames({ trace_group_id: group, thread_id: thread, run_id: run }: LineageScope): string[] {
  return Object.entries({ group, thread, run }).flatMap(([name, id]) => (id === undefined ? [] : [`${name} ${id}`]));
}

/** A line for each tenant with the options that select it, and one that counts the others. */
export function tenantLines(tenants: readonly Tenant[], count: number): string[] {
  const named = tenants.slice(0, MAX_NAMED_TENANTS);
  const lines = named.map((tenant) => `  ${isKnownTenant(tenant) ? tenantFlags(tenant) : 'no tenant: unknown callers'}`);
  return count > named.length ? [...lines, `  and ${count - named.length} more`] : lines;
}
