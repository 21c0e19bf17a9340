import { recordPeppers } from '@vitrine/credentials/postgres/pepper-rows';
import type { TokenHash } from '@vitrine/credentials/token-hashes';
import type { Queryable } from '@vitrine/postgres/connection';
import type { KeyTokens } from '../key-store.ts';

/** Whether a key of any tenant has or had a token with one of these hashes. */
export async function isKnown(database: Queryable, hashes: readonly TokenHash[]): Promise<boolean> {
  const macs = hashes.map(({ token_mac }) => Buffer.from(token_mac));
  return (await database.query('SELECT FROM token_hashes WHERE token_mac = ANY ($1::bytea[]) LIMIT 1', [macs])).length > 0;
}

/** The ids of those keys with a token that another key has or had. */
export async function takenByOthers(database: Queryable, keys: readonly KeyTokens[]): Promise<string[]> {
  const taken = `SELECT DISTINCT given.id FROM unnest($1::text[], $2::bytea[]) AS given (id, token_mac)
    JOIN token_hashes USING (token_mac) WHERE key_id <> given.id`;
  const { ids, macs } = columnsOf(keys);
  const found = new Set((await database.query<{ id: string }>(taken, [ids, macs])).map(({ id }) => id));
  return keys.map(({ id }) => id).filter((id) => found.has(id));
}

/** Under every pepper: another process may be configured with only some of them. Records the peppers too. */
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
