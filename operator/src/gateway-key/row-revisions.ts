import type { ManagedKeyRevision } from '@vitrine/gateway-keys/managed-key';

/** By uid of the owner. */
export type RowRevisions = ReadonlyMap<string, ManagedKeyRevision>;

export function revisionsByOwner(rows: readonly ManagedKeyRevision[]): RowRevisions {
  return new Map(rows.map((row) => [row.owner_uid, row]));
}

/** The owners of rows that are gone, older than before, or changed by others: the database lost them, was restored from a copy, or was edited. A new
 *  row is the operator's, unless others changed it since it was registered. */
export function changedOwners(before: RowRevisions, now: RowRevisions): ReadonlySet<string> {
  const isGoneOrOlder = ([owner, { revision }]: readonly [string, ManagedKeyRevision]) =>
    (now.get(owner)?.revision ?? -1) < revision;
  const isEdited = ([owner, { revision, isOwn }]: readonly [string, ManagedKeyRevision]) =>
    !isOwn && revision > (before.get(owner)?.revision ?? -1);
  return new Set([...[...before].filter(isGoneOrOlder), ...[...now].filter(isEdited)].map(([owner]) => owner));
}
