import type { PepperIdentity } from '@vitrine/credentials/pepper-identity';
import { pepperProblem, type PepperProblem, type PepperUse, type StoredPeppers } from '@vitrine/credentials/pepper-problem';
import { recordedPeppers } from '@vitrine/credentials/postgres/pepper-rows';
import type { Queryable } from '@vitrine/postgres/connection';

/** The peppers of gateway keys. Hashes that only keep a token taken need no pepper. */
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

/** To be called under the lock of keys. */
export async function storedPepperProblem(
  database: Queryable,
  configured: readonly PepperIdentity[],
): Promise<PepperProblem | undefined> {
  return pepperProblem(configured, await readStoredPeppers(database));
}
