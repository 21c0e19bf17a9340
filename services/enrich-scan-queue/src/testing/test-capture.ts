import { DEMO_FACTS } from '@vitrine/stores/demo/demo-store';
import { createId } from '@vitrine/stores/identifiers';
import { commitObservation } from '@vitrine/stores/commit/commit-observation';
import { URLS } from '@vitrine/stores/testing/store-states';
import { randomBytes } from 'node:crypto';
import type { Commit, Describe } from '../run-scan.ts';
import type { ScanCapture } from '../scan/scan-ports.ts';

/** The result of a scan of an open storefront, without its pages. */
export function testCapture(domain: string): ScanCapture {
  return {
    domain,
    storefrontHost: domain,
    startedAt: Date.now() - 1_000,
    completedAt: Date.now(),
    scope: 'full',
    coverageNote: null,
    storefrontCondition: 'open',
    pages: [],
    documents: [],
    redirects: [],
  };
}

/** The facts of the demo store, for any domain. */
export const describeAsDemo: Describe = ({ domain }) => ({
  facts: { ...DEMO_FACTS, domain },
  evidence: { pages: [] },
  registry_checksum: 'sha256:test',
});

const createStorefrontId = () => createId('sf', Date.now(), randomBytes);

/** Commits the first observation of a store. Fails if there already was one. */
export const commitFirst: Commit = async (transaction, completed) => {
  const observation = { ...completed, id: createId('obs', Date.now(), randomBytes) };
  const committed = await commitObservation(transaction, observation, { urls: URLS, createStorefrontId });
  if (committed.arrival !== 'first') throw new Error(`${completed.facts.domain} was observed before`);
  return committed;
};
