import { pepperProblem } from '@vitrine/credentials/pepper-problem';
import type { Transaction } from '@vitrine/postgres/transaction';
import type { KeyRow } from '../gateway-key.ts';
import type { TokenMove } from '../key-store.ts';
import { nextRevision } from './key-changes.ts';
import { keyRowOf } from './key-row.ts';
import { readStoredPeppers } from './stored-peppers.ts';
import { keepHashes, takenByOthers } from './token-hash-rows.ts';

/** Replaces the hashes of tokens that keys still have, and resolves with these keys. To be called under the lock of keys. */
export async function moveTokens(database: Transaction, moves: readonly TokenMove[], writer: string): Promise<KeyRow[]> {
  const { recorded } = await readStoredPeppers(database);
  const tokens = moves.map(({ id, to }) => ({ id, known: [to] }));
  const taken = await takenByOthers(database, tokens);
  const possible = moves.filter(({ id, to }) => !taken.includes(id) && pepperProblem([to], { recorded, used: [] }) === undefined);
  if (possible.length === 0) return [];
  const revision = await nextRevision(database, writer);
  const text = `UPDATE gateway_keys AS k SET pepper_version = move.version, token_mac = move.to_mac, revision = $5 + move.n, changed_by = $6
    FROM (SELECT *, row_number() OVER () - 1 AS n FROM unnest($1::text[], $2::bytea[], $3::bytea[], $4::integer[])
      AS one (id, from_mac, to_mac, version)) AS move
    WHERE k.id = move.id AND k.token_mac = move.from_mac AND k.revoked_at IS NULL RETURNING k.*`;
  const rows = await database.query(text, [
    possible.map(({ id }) => id),
    possible.map(({ from }) => Buffer.from(from.token_mac)),
    possible.map(({ to }) => Buffer.from(to.token_mac)),
    possible.map(({ to }) => to.pepper_version),
    revision,
    writer,
  ]);
  const moved = rows.map(keyRowOf);
  await keepHashes(
    database,
    tokens.filter(({ id }) => moved.some((row) => row.id === id)),
  );
  return moved;
}
