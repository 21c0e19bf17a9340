import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { VOCABULARY } from '@vitrine/registry/vocabulary';
import { importVocabulary } from '@vitrine/stores/import-vocabulary';
import { observationFacts } from '@vitrine/stores/observation/observation-facts';
import { store } from '@vitrine/stores/resources/store';
import { storeDatabase, type StoreDatabase } from '@vitrine/stores/testing/store-database';
import { createLogger } from '@vitrine/telemetry/logger';
import type { StorefrontBehaviour } from '@vitrine/testkit/storefronts/closed-storefront';
import { startStorefronts, type Storefronts } from '@vitrine/testkit/storefronts/start-storefronts';
import { STOREFRONT_PLATFORMS, type StorefrontPlatform } from '@vitrine/testkit/storefronts/storefront';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { startScanner, type Scanner } from './app.ts';
import { readScanConfig } from './config.ts';
import { queueTestScans } from './testing/start-test-queue.ts';

const SLOW_MS = 200_000;
const PRODUCTS = 12;
const hostOf = (name: string) => `${name}.com`;
/** The result of the job, the observed condition, and the reason of a failed attempt. */
const BEHAVIOURS: readonly (readonly [StorefrontBehaviour, string, string])[] = [
  ['password', 'completed', 'password'],
  ['closed', 'completed', 'closed'],
  ['parked', 'completed', 'parked'],
  ['cloudflare-challenge', 'blocked', 'challenged'],
  ['datadome-captcha', 'blocked', 'challenged'],
  ['throttled', 'blocked', 'throttled'],
  ['robots-denied', 'blocked', 'robots_denied'],
  ['robots-unavailable', 'failed', 'robots_unavailable'],
  ['empty', 'failed', 'not_html'],
  ['json-home', 'failed', 'not_html'],
];

let storefronts: Storefronts;
let database: StoreDatabase;
let api: PostgresPool;
let scanner: Scanner;
beforeAll(async () => {
  storefronts = await startStorefronts([
    ...STOREFRONT_PLATFORMS.map((platform) => ({
      host: hostOf(platform),
      platform,
      technologies: ['klaviyo'],
      products: PRODUCTS,
    })),
    ...BEHAVIOURS.map(([behaviour]) => ({ host: hostOf(`is-${behaviour}`), behaviour, platform: 'shopify' as const })),
    { host: 'unstorable.com', platform: 'shopify' as const, name: 'Ac\0me \ud83d', products: PRODUCTS },
    { host: 'changing.com', platform: 'shopify' as const, technologies: ['klaviyo'], products: PRODUCTS },
  ]);
  database = await storeDatabase();
  api = database.as('vitrine_store_api');
  await importVocabulary(api, VOCABULARY);
  const loopback = Object.entries(storefronts.loopbackHosts).map(
    ([host, { address, http_port, https_port }]) => `${host}=${address}:${http_port}:${https_port}`,
  );
  const config = readScanConfig(
    { path: 'test', text: JSON.stringify({ fetch: { loopback_hosts: loopback, loopback_ca: storefronts.ca } }) },
    {
      SCAN_ENVIRONMENT: 'development',
      SCAN_STORAGE_DSN: database.dsnOf('vitrine_enrich').reveal(),
      SCAN_QUEUE_DRIVER: 'database',
      SCAN_SERVER_HOST: '127.0.0.1',
      SCAN_SERVER_PORT: '0',
      SCAN_JOBS_MAX_ATTEMPTS: '1',
      SCAN_RESCAN_ENABLED: 'false',
      // All of them have the address of this machine.
      SCAN_POLITENESS: 'off',
    },
  );
  scanner = await startScanner(config, createLogger('test', 'silent', { write: () => true }));
});
afterAll(async () => {
  await scanner[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
  await storefronts[Symbol.asyncDispose]();
});

const scan = async (domain: string) => {
  const id = (await queueTestScans(api, [domain])).get(domain);
  return waitUntil(
    async () => {
      const [row] = await database.owner.query<{ status: string; error: string | null }>(
        'SELECT status, error FROM scan_jobs WHERE id = $1',
        [id],
      );
      return row !== undefined && !['queued', 'running'].includes(row.status) && row;
    },
    { what: `the scan of ${domain}`, timeoutMs: SLOW_MS },
  );
};
const profileOf = async (domain: string) => {
  const [row] = await database.owner.query<{ profile: string | null }>('SELECT profile FROM stores WHERE domain = $1', [domain]);
  return typeof row?.profile === 'string' ? store.parse(JSON.parse(row.profile)) : undefined;
};
const factsOf = async (domain: string) => {
  const text = `SELECT o.facts FROM observations o JOIN stores s USING (storefront_id) WHERE s.domain = $1 ORDER BY o.completed_at DESC LIMIT 1`;
  const [row] = await database.owner.query<{ facts: unknown }>(text, [domain]);
  return row && observationFacts.parse(row.facts);
};

/** Coverage and currency of each platform's catalogue, and the number of available products. */
const CATALOGUES: Readonly<Partial<Record<StorefrontPlatform, readonly [string, string | null, number | null]>>> = {
  shopify: ['full', 'EUR', 11],
  woocommerce: ['full', 'EUR', 11],
  magento: ['full', 'EUR', 11],
  vtex: ['full', null, 11],
  'squarespace-commerce': ['partial', 'EUR', 11],
  'big-cartel': ['first_page', 'EUR', 11],
};
/** For platforms counted by a sitemap. The product page states the currency. */
const COUNTED = ['partial', 'EUR', null] as const;

describe('an open storefront', () => {
  test.each(STOREFRONT_PLATFORMS.filter((platform) => platform !== 'none'))(
    'on %s is a store with its platform',
    async (platform) => {
      expect(await scan(hostOf(platform))).toEqual({ status: 'completed', error: null });
      const profile = await profileOf(hostOf(platform));
      expect([profile?.platform?.slug, profile?.technologies.map(({ slug }) => slug)]).toEqual([
        platform,
        expect.arrayContaining(['klaviyo']),
      ]);
      expect(profile?.recent_signals.map(({ type }) => type)).toContain('store_first_observed');
      const [coverage, currency, available_count] = CATALOGUES[platform] ?? COUNTED;
      expect(profile?.catalog).toMatchObject({ product_count: PRODUCTS, coverage, currency, available_count });
      expect(profile?.status.state).toBe('active_storefront');
    },
  );

  test('that sells nothing is not stored as a store', async () => {
    expect(await scan(hostOf('none'))).toEqual({ status: 'completed', error: null });
    expect(await profileOf(hostOf('none'))).toBeUndefined();
    expect(await factsOf(hostOf('none'))).toMatchObject({ shows_commerce: false, shows_products: false });
  });

  test('has the catalogue, settings and scope that were read', async () => {
    await scan(hostOf('shopify'));
    const profile = await profileOf(hostOf('shopify'));
    expect(profile).toMatchObject({
      status: { state: 'active_storefront' },
      catalog: { product_count: PRODUCTS, coverage: 'full' },
      geography: { basis: 'observed' },
      observation: { scope: 'full', coverage_note: null },
    });
  });
});

test('a storefront with texts that the database cannot store is observed with repaired texts', async () => {
  expect(await scan('unstorable.com')).toEqual({ status: 'completed', error: null });
  expect(await profileOf('unstorable.com')).toMatchObject({ name: 'Ac\uFFFDme \uFFFD', platform: { slug: 'shopify' } });
});

test.each(BEHAVIOURS)('a storefront that is %s: the job is %s', async (behaviour, status, reason) => {
  const domain = hostOf(`is-${behaviour}`);
  const job = await scan(domain);
  expect(job.status).toBe(status);
  if (status === 'completed') expect(await factsOf(domain)).toMatchObject({ condition: reason, technologies: [] });
  else {
    expect(job.error).toMatch(new RegExp(`^${reason}: `));
    expect(await factsOf(domain)).toBeUndefined();
  }
});

test('over time: an addition at once, no removal after failed attempts or two misses, a removal after the third', async () => {
  const domain = 'changing.com';
  const signals = async () =>
    (await profileOf(domain))?.recent_signals.map(({ type, technology }) => [type, technology].join(' ').trim());
  await scan(domain);
  expect(await signals()).toEqual(expect.not.arrayContaining(['technology_added klaviyo']));
  storefronts.change(domain, { technologies: ['klaviyo', 'judge-me'] });
  await scan(domain);
  expect(await signals()).toEqual(expect.arrayContaining(['technology_added judge-me']));
  storefronts.change(domain, { technologies: ['klaviyo'] });
  await scan(domain);
  await scan(domain);
  const before = await profileOf(domain);
  storefronts.change(domain, { behaviour: 'cloudflare-challenge' });
  expect(await scan(domain)).toMatchObject({ status: 'blocked' });
  expect(await profileOf(domain)).toEqual(before);
  expect(before?.technologies.find(({ slug }) => slug === 'judge-me')?.install_state).not.toBe('inactive');
  storefronts.change(domain, { behaviour: 'open' });
  await scan(domain);
  expect(await signals()).toEqual(expect.arrayContaining(['technology_removed judge-me']));
  expect((await profileOf(domain))?.technologies.find(({ slug }) => slug === 'judge-me')?.install_state).toBe('inactive');
});
