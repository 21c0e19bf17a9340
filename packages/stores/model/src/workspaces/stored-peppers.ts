import { Fault } from '@vitrine/faults/fault';
import type { PepperIdentity } from '@vitrine/credentials/pepper-identity';
import { pepperProblem, pepperProblemText, type PepperUse, type StoredPeppers } from '@vitrine/credentials/pepper-problem';
import { recordedPeppers, recordPeppers } from '@vitrine/credentials/postgres/pepper-rows';
import type { NewTokenHash } from '@vitrine/credentials/token-hashes';
import type { Queryable } from '@vitrine/postgres/connection';

/** The peppers of accepted API keys and login links. */
export async function readStoredPeppers(database: Queryable): Promise<StoredPeppers> {
  const text = `SELECT pepper_version, count(*) AS hashes FROM (
      SELECT pepper_version FROM api_keys WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
      UNION ALL
      SELECT pepper_version FROM login_links WHERE used_at IS NULL AND expires_at > now()
    ) AS used GROUP BY pepper_version ORDER BY pepper_version`;
  return { recorded: await recordedPeppers(database, 'api_keys'), used: await database.query<PepperUse>(text) };
}

/** Records the pepper of a hash about to be stored. `configured`: all peppers of this process. Faults: `pepper_mismatch` if these cannot verify
 *  the stored hashes, because then other processes could not verify new ones. */
export async function recordPepperOf(
  database: Queryable,
  { pepper_version, pepper_fingerprint }: NewTokenHash,
  configured: readonly PepperIdentity[],
): Promise<void> {
  await recordPeppers(database, 'api_keys', [{ pepper_version, pepper_fingerprint }]);
  const problem = pepperProblem(configured, await readStoredPeppers(database));
  if (problem === undefined) return;
  throw new Fault('pepper_mismatch', {
    say: `auth.peppers (STORE_API_AUTH_PEPPERS): ${pepperProblemText(problem)}; see docs/failure-modes.md#pepper_mismatch`,
  });
}

/** A key that was used, and the hash of its token under the pepper of new ones. */
export interface KeyMove {
  readonly key_id: string;
  readonly from: Uint8Array;
  readonly to: NewTokenHash;
}

/** Replaces hashes of keys with those of another pepper, which it records. A hash already moved by another process is kept. */
export async function moveKeys(database: Queryable, moves: readonly KeyMove[]): Promise<void> {
  if (moves.length === 0) return;
  await recordPeppers(
    database,
    'api_keys',
    moves.map(({ to }) => to),
  );
  // Locked in a fixed order, so that two processes do not wait for each other.
  const text = `WITH moved AS (
      SELECT k.id, m.token_mac, m.pepper_version
      FROM unnest($1::text[], $2::bytea[], $3::bytea[], $4::integer[]) AS m (id, old_mac, token_mac, pepper_version)
      JOIN api_keys k ON k.id = m.id AND k.token_mac = m.old_mac ORDER BY k.id FOR UPDATE OF k
    )
    UPDATE api_keys k SET token_mac = m.token_mac, pepper_version = m.pepper_version FROM moved m WHERE k.id = m.id`;
  await database.execute(text, [
    moves.map(({ key_id }) => key_id),
    moves.map(({ from }) => from),
    moves.map(({ to }) => to.token_mac),
    moves.map(({ to }) => to.pepper_version),
  ]);
}
