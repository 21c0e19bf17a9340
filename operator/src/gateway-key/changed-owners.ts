import type { ManagedKeyRevision } from '@vitrine/gateway-keys/managed-key';

/** By uid of the owner. */
export type RowRevisions = ReadonlyMap<string, ManagedKeyRevision>;

export function revisionsByOwner(rows: readonly ManagedKeyRevision[]): RowRevisions {
  return new Map(rows.map((row) => [row.owner_uid, row]));
}

/** The owners of rows that are gone, older than before, or changed by somebody else: the database lost them, was restored from a copy, or was
 *  edited. What is new was made by the pass that needed it. */
export function changedOwners(before: RowRevisions, now: RowRevisions): ReadonlySet<string> {
  const isChanged = ([owner, { revision }]: readonly [string, ManagedKeyRevision]) => {
    const row = now.get(owner);
    return row === undefined || row.revision < revision || (row.revision > revision && !row.isOwn);
  };
  return new Set([...before].filter(isChanged).map(([owner]) => owner));
}
