import type { Transaction } from '@vitrine/postgres/transaction';
import { REGISTRY_CHECKSUM } from '@vitrine/registry/registry-checksum';
import { createId } from '../identifiers.ts';
import { commitObservation } from '../commit/commit-observation.ts';
import { lockDomain } from '../commit/known-store.ts';
import type { Observation } from '../observation/observation-facts.ts';
import type { PublicUrls } from '../profile/public-urls.ts';
import { DEMO_FACTS } from './demo-facts.ts';

const SCAN_MS = 9_000;
/** Its domain has no store, so a routine scan would replace the recorded data. */
const NEVER_SCAN = `UPDATE stores SET next_scan_at = '9999-01-01Z' WHERE domain = $1`;

/**
 * Commits the recorded observation of the demo store, as if its scan had just completed, unless the store exists. Resolves with its
 * domain.
 */
export async function commitDemoStore(
  transaction: Transaction,
  urls: PublicUrls,
  nowMs: number,
  random: (bytes: number) => Uint8Array,
): Promise<string> {
  const { domain } = DEMO_FACTS;
  await lockDomain(transaction, domain);
  const observed = 'SELECT FROM stores WHERE domain = $1 AND last_completed_scan_at IS NOT NULL';
  if ((await transaction.query(observed, [domain])).length > 0) return domain;
  const observation: Observation = {
    id: createId('obs', nowMs, random),
    scan_job_id: null,
    started_at: nowMs - SCAN_MS,
    completed_at: nowMs,
    registry_checksum: REGISTRY_CHECKSUM,
    facts: DEMO_FACTS,
  };
  await commitObservation(transaction, observation, { urls, createStorefrontId: () => createId('sf', nowMs, random) });
  await transaction.execute(NEVER_SCAN, [domain]);
  return domain;
}
