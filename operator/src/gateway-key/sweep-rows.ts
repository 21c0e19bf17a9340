import type { ManagedKeyRevision, ManagedKeyRows } from '@vitrine/gateway-keys/managed-key';
import { planNamesText } from '@vitrine/plans/plan-rows';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { RepeatedWork } from '../runtime/controller.ts';
import { keyOf } from '../runtime/list-watch.ts';
import type { GatewayKeyObject } from './gateway-key-resource.ts';
import { shouldHaveRow } from './lost-keys.ts';

interface SweptKeys {
  readonly listed: () => readonly GatewayKeyObject[];
  readonly addKeys: (isAffected: (object: GatewayKeyObject) => boolean) => void;
  readonly registerAgain: (keys: readonly string[], signal: AbortSignal) => Promise<void>;
}

/**
 * Registers keys again whose rows the database lost. Enqueues keys whose rows were changed by others, or whose plan was created or
 * deleted.
 */
export function sweepRows(rows: ManagedKeyRows, pool: PostgresPool, { listed, addKeys, registerAgain }: SweptKeys): RepeatedWork {
  let revisions: RowRevisions = new Map();
  let plans: string | undefined;
  return async (signal) => {
    // Read before the rows, so that a key registered in the meantime does not count as lost.
    const registered = listed().filter(shouldHaveRow);
    const found = { revisions: revisionsByOwner(await rows.revisions()), plans: await planNamesText(pool) };
    const owners = changedOwners(revisions, found.revisions);
    addKeys(({ metadata }) => owners.has(metadata.uid));
    const lost = registered.filter(({ metadata }) => !found.revisions.has(metadata.uid));
    if (lost.length > 0) await registerAgain(lost.map(keyOf), signal);
    if (plans !== undefined && plans !== found.plans)
      addKeys(({ spec }) => (spec as { plan?: unknown } | undefined)?.plan !== undefined);
    ({ revisions, plans } = found);
  };
}

/** By uid of the owner. */
type RowRevisions = ReadonlyMap<string, ManagedKeyRevision>;

export function revisionsByOwner(rows: readonly ManagedKeyRevision[]): RowRevisions {
  return new Map(rows.map((row) => [row.owner_uid, row]));
}

/**
 * The owners of rows that are missing, older than before, or changed by others: the database lost them, was restored from a copy, or was
 * edited. A new row counts as the operator's, unless others changed it since its registration.
 */
export function changedOwners(before: RowRevisions, now: RowRevisions): ReadonlySet<string> {
  const isGoneOrOlder = ([owner, { revision }]: readonly [string, ManagedKeyRevision]) =>
    (now.get(owner)?.revision ?? -1) < revision;
  const isEdited = ([owner, { revision, isOwn }]: readonly [string, ManagedKeyRevision]) =>
    !isOwn && revision > (before.get(owner)?.revision ?? -1);
  return new Set([...[...before].filter(isGoneOrOlder), ...[...now].filter(isEdited)].map(([owner]) => owner));
}
