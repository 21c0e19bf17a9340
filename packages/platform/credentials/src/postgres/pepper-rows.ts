import type { Queryable } from '@vitrine/postgres/connection';
import type { PepperIdentity } from '../pepper-identity.ts';

/** The owner of the hashed tokens. Two services may share a pepper, or use different ones under the same version. */
type PepperPurpose = 'gateway_keys' | 'api_keys';

export function recordedPeppers(database: Queryable, purpose: PepperPurpose): Promise<PepperIdentity[]> {
  const text = `SELECT pepper_version, pepper_fingerprint FROM pepper_fingerprints WHERE purpose = $1 ORDER BY pepper_version`;
  return database.query<PepperIdentity>(text, [purpose]);
}

/** Records the peppers of stored hashes, in the transaction that stores the hashes. Records never change. */
export async function recordPeppers(
  database: Queryable,
  purpose: PepperPurpose,
  peppers: readonly PepperIdentity[],
): Promise<void> {
  const text = `INSERT INTO pepper_fingerprints (purpose, pepper_version, pepper_fingerprint)
    SELECT DISTINCT $1::text, * FROM unnest($2::integer[], $3::text[]) ON CONFLICT DO NOTHING`;
  const columns = [
    peppers.map(({ pepper_version }) => pepper_version),
    peppers.map(({ pepper_fingerprint }) => pepper_fingerprint),
  ];
  await database.execute(text, [purpose, ...columns]);
}
