import { expect, test } from '@jest/globals';
import { extractPageEvidence } from '@vitrine/registry/evidence/extract-page-evidence';
import { REGISTRY_CHECKSUM } from '@vitrine/registry/rules/rule-index';
import { VOCABULARY } from '@vitrine/registry/vocabulary';
import { commitObservation } from '@vitrine/stores/commit/commit-observation';
import { importVocabulary } from '@vitrine/stores/import-vocabulary';
import { store } from '@vitrine/stores/resources/store';
import { observed } from '@vitrine/stores/testing/observations';
import { storeDatabase, type StoreDatabase } from '@vitrine/stores/testing/store-database';
import { URLS } from '@vitrine/stores/testing/store-states';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { startTestQueue } from '../testing/start-test-queue.ts';

const PAGE = '<script src="https://static.klaviyo.com/onsite/js/klaviyo.js?company_id=AbCdEf"></script>';
const NEVER = () => () => Promise.reject(new Error('no scan is queued'));

/** Stores whose last scans were made by rules without a technology that is in their evidence. */
async function scannedByOlderRules(database: StoreDatabase, domains: readonly string[]): Promise<void> {
  await importVocabulary(database.as('vitrine_store_api'), VOCABULARY);
  const scanner = database.as('vitrine_enrich');
  for (const domain of domains) {
    const pages = [extractPageEvidence({ html: PAGE, url: `https://${domain}/`, pageClass: 'home' })];
    const { id, facts, registry_checksum } = observed(1);
    const evidence = { version: 1, pages, endpoints: {} };
    const observation = {
      id: `${id}${domain}`,
      facts: { ...facts, domain },
      registry_checksum,
      scan_job_id: null,
      // Older evidence has been removed.
      started_at: Date.now(),
      completed_at: Date.now(),
      evidence,
    };
    const context = { urls: URLS, createStorefrontId: () => `sf_${domain}` };
    await scanner.transaction((transaction) => commitObservation(transaction, observation, context));
  }
}

test('scanners with new rules read the evidence of all stores again, once, and profiles follow', async () => {
  await using database = await storeDatabase();
  const domains = Array.from({ length: 30 }, (_, i) => `shop-${i}.com`);
  await scannedByOlderRules(database, domains);
  await using one = startTestQueue(database, NEVER, { SCAN_EVIDENCE_REPLAY_PER_SECOND: '1000' });
  await using other = startTestQueue(database, NEVER, { SCAN_EVIDENCE_REPLAY_PER_SECOND: '1000' });
  const left = 'SELECT FROM derivations WHERE registry_checksum IS DISTINCT FROM $1';
  const isDone = async () => {
    // Failures caused by a paused machine are retried without a wait.
    await database.owner.execute(`UPDATE registry_replays SET next_pass_at = '-infinity'`);
    return (await database.owner.query(left, [REGISTRY_CHECKSUM])).length === 0;
  };
  await waitUntil(isDone, { what: 'all stores to stand by the rules of this build' });
  for (const row of await database.owner.query('SELECT profile FROM stores')) {
    const { technologies, recent_signals } = store.parse(JSON.parse(String(row['profile'])));
    expect(technologies.map(({ slug }) => slug)).toEqual(['klaviyo']);
    expect(recent_signals.map(({ type }) => type).toSorted()).toEqual(['store_became_active', 'store_first_observed']);
  }
  const replayed = () => [one, other].map(({ queue }) => queue.figures.replay?.stores.replayed ?? 0);
  await waitUntil(() => replayed().reduce((sum, count) => sum + count, 0) === domains.length, { what: 'each store once' });
});

test('a store that fails is counted and logged, and the others are replayed', async () => {
  await using database = await storeDatabase();
  await scannedByOlderRules(database, ['a.com', 'b.com']);
  // A state that no version has written.
  await database.owner.execute(`UPDATE derivations SET state = '{"version":1}' WHERE storefront_id = 'sf_a.com'`);
  await using scanner = startTestQueue(database, NEVER, { SCAN_EVIDENCE_REPLAY_PER_SECOND: '1000' });
  const stores = () => scanner.queue.figures.replay?.stores;
  await waitUntil(() => (stores()?.failed ?? 0) > 0 && stores()?.replayed === 1, { what: 'both stores' });
  expect(scanner.log.join('')).toContain('evidence of a store not replayed');
});

test('without a rate nothing is replayed', async () => {
  await using database = await storeDatabase();
  await scannedByOlderRules(database, ['a.com']);
  await using scanner = startTestQueue(database, NEVER, { SCAN_EVIDENCE_REPLAY_PER_SECOND: '0' });
  await waitUntil(() => scanner.queue.figures.replay !== undefined, { what: 'the scanner to run' });
  expect(scanner.queue.figures.replay).toEqual({ stores: { replayed: 0, unchanged: 0, failed: 0 }, remaining: undefined });
  expect(await database.owner.query('SELECT FROM registry_replays')).toEqual([]);
});
