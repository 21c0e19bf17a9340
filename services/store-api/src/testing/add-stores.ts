import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { DEMO_FACTS } from '@vitrine/stores/demo/demo-store';
import { renderProfile } from '@vitrine/stores/profile/render-profile';
import { storeState, T0, URLS } from '@vitrine/stores/testing/store-states';

/** Domains by their state in the corpus. */
export interface TestStores {
  readonly matched?: readonly string[];
  readonly stale?: readonly string[];
  readonly not_ecommerce?: readonly string[];
  readonly not_in_corpus?: readonly string[];
  readonly blocked?: readonly string[];
}

/** Adds stores as written by observations. Stale ones were observed two years ago. */
export async function addStores(owner: PostgresPool, stores: TestStores): Promise<void> {
  const { matched = [], stale = [], not_ecommerce = [], not_in_corpus = [], blocked = [] } = stores;
  await add(owner, matched, 'now()', true);
  await add(owner, stale, `now() - interval '2 years'`, true);
  await add(owner, not_ecommerce, 'now()', false);
  await add(owner, not_in_corpus, 'NULL', false);
  await add(owner, blocked, 'now()', true);
  await owner.execute(
    `INSERT INTO domain_denylist (domain, reason) SELECT domain, 'asked for it' FROM unnest($1::text[]) AS d (domain)`,
    [blocked],
  );
}

async function add(owner: PostgresPool, domains: readonly string[], observedAt: string, isEcommerce: boolean): Promise<void> {
  const times = { first_observed_at: T0, last_confirmed_at: T0 };
  const technologies = DEMO_FACTS.technologies.map(({ slug, install_state, confidence }) => ({
    slug,
    install_state,
    confidence,
    ...times,
  }));
  const profiles = domains.map((domain) => renderProfile(storeState({ domain, technologies }), [], URLS));
  await owner.execute(
    `INSERT INTO stores (storefront_id, domain, storefront_host, state, state_as_of, is_ecommerce, last_completed_scan_at, profile, profile_hash)
     SELECT 'sf_' || domain, domain, domain, 'reachable', now(), $4, ${observedAt}, CASE WHEN $4 THEN profile END, CASE WHEN $4 THEN hash END
     FROM unnest($1::text[], $2::text[], $3::text[]) AS s (domain, profile, hash)`,
    [domains, profiles.map(({ text }) => text), profiles.map(({ hash }) => hash), isEcommerce],
  );
}
