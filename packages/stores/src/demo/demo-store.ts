import type { Transaction } from '@vitrine/postgres/transaction';
import { REGISTRY_CHECKSUM } from '@vitrine/registry/registry-checksum';
import { createId } from '../identifiers.ts';
import { commitObservation, lockStore } from '../observation/commit-observation.ts';
import { firstObservation } from '../observation/first-observation.ts';
import type { Observation } from '../observation/observation.ts';
import type { PublicUrls } from '../profile/public-urls.ts';
import { DEMO_FACTS } from './demo-facts.ts';

const SCAN_MS = 9_000;

/** Commits the recorded observation of the demo store, as if its scan had just completed, unless the store is there. Resolves with its domain. */
export async function commitDemoStore(
  transaction: Transaction,
  urls: PublicUrls,
  nowMs: number,
  random: (bytes: number) => Uint8Array,
): Promise<string> {
  const { domain } = DEMO_FACTS;
  const known = await lockStore(transaction, domain);
  if (known?.state !== undefined) return domain;
  const observation: Observation = {
    id: createId('obs', nowMs, random),
    scan_job_id: null,
    started_at: nowMs - SCAN_MS,
    completed_at: nowMs,
    registry_checksum: REGISTRY_CHECKSUM,
    facts: DEMO_FACTS,
  };
  const change = firstObservation(observation, known?.storefront_id ?? createId('sf', nowMs, random));
  await commitObservation(transaction, observation, change, urls);
  return domain;
}
