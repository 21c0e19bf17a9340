import type { PepperIdentity } from '@vitrine/credentials/pepper-identity';
import { pepperProblem, type PepperProblem, type PepperUse, type StoredPeppers } from '@vitrine/credentials/pepper-problem';
import { recordedPeppers, recordPeppers } from '@vitrine/credentials/postgres/pepper-rows';
import type { TokenHash } from '@vitrine/credentials/token-hashes';
import type { Queryable } from '@vitrine/postgres/connection';
import type { Transaction } from '@vitrine/postgres/transaction';
import type { KeyRow } from '../key-row.ts';
import type { KeyTokens, TokenMove } from '../key-store.ts';
import { nextRevision } from './key-changes.ts';
import { keyRowOf } from './key-row.ts';

/** Whether a key of any tenant has or had a token with one of these hashes. */
export async function isKnown(database: Queryable, hashes: readonly TokenHash[]): Promise<boolean> {
  const macs = hashes.map(({ token_mac }) => Buffer.from(token_mac));
  return (await database.query('SELECT FROM token_hashes WHERE token_mac = ANY ($1::bytea[]) LIMIT 1', [macs])).length > 0;
}

/** The ids of keys whose token another key has or had. */
export async function takenByOthers(database: Queryable, keys: readonly KeyTokens[]): Promise<string[]> {
  const taken = `SELECT DISTINCT given.id FROM unnest($1::text[], $2::bytea[]) AS given (id, token_mac)
    JOIN token_hashes USING (token_mac) WHERE key_id <> given.id`;
  const { ids, macs } = columnsOf(keys);
  const found = new Set((await database.query<{ id: string }>(taken, [ids, macs])).map(({ id }) => id));
  return keys.map(({ id }) => id).filter((id) => found.has(id));
}

/** Under every pepper, because another process may be configured with only some of them. Records the peppers too. */
export async function keepHashes(database: Queryable, keys: readonly KeyTokens[]): Promise<void> {
  const { ids, macs, peppers } = columnsOf(keys);
  const keep = `INSERT INTO token_hashes (key_id, token_mac, pepper_version)
    SELECT * FROM unnest($1::text[], $2::bytea[], $3::integer[]) ON CONFLICT DO NOTHING`;
  await database.execute(keep, [ids, macs, peppers]);
  await recordPeppers(
    database,
    'gateway_keys',
    keys.flatMap(({ known }) => known),
  );
}

function columnsOf(keys: readonly KeyTokens[]) {
  const rows = keys.flatMap(({ id, known }) => known.map((hash) => ({ id, ...hash })));
  return {
    ids: rows.map(({ id }) => id),
    macs: rows.map(({ token_mac }) => Buffer.from(token_mac)),
    peppers: rows.map(({ pepper_version }) => pepper_version),
  };
}

/** The peppers of gateway keys. Hashes that only reserve a token need no pepper. */
export async function readStoredPeppers(database: Queryable): Promise<StoredPeppers> {
  const text = `SELECT pepper_version, count(*) AS hashes FROM (
      SELECT pepper_version FROM gateway_keys WHERE revoked_at IS NULL
      UNION ALL
      SELECT next_pepper_version FROM gateway_keys WHERE revoked_at IS NULL AND next_token_mac IS NOT NULL
      UNION ALL
      SELECT previous_pepper_version FROM gateway_keys WHERE revoked_at IS NULL AND previous_until > now()
    ) AS used GROUP BY pepper_version ORDER BY pepper_version`;
  return { recorded: await recordedPeppers(database, 'gateway_keys'), used: await database.query<PepperUse>(text) };
}

/** Call it under the lock of keys. */
export async function storedPepperProblem(
  database: Queryable,
  configured: readonly PepperIdentity[],
): Promise<PepperProblem | undefined> {
  return pepperProblem(configured, await readStoredPeppers(database));
}

/** Replaces the hashes of tokens that keys still have, and resolves with these keys. Call it under the lock of keys. */
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
