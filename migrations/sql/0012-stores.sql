SET ROLE vitrine_migrations;

-- Columns are the specification's fields; ids sort by their time of creation.

CREATE TABLE technologies (
  slug text COLLATE "C" NOT NULL PRIMARY KEY,
  name text NOT NULL,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('platform', 'app', 'service', 'theme')),
  category text COLLATE "C" NOT NULL,
  vendor text,
  website text
);
COMMENT ON TABLE technologies IS 'the vocabulary of detection; filled by the store API from the registry';

-- A compressed profile (8 KB of JSON are 2.5 KB) stays in the row of its store, by toast_tuple_target: a batch of 100 reads 100 pages and their
-- index, not 300 pages and two indexes, and takes half of the CPU of the server.
CREATE TABLE stores (
  storefront_id text COLLATE "C" NOT NULL PRIMARY KEY,
  domain text COLLATE "C" NOT NULL UNIQUE,
  storefront_host text COLLATE "C" NOT NULL,
  brand_group_id text COLLATE "C",
  name text,
  rank integer,
  platform text COLLATE "C" REFERENCES technologies,
  platform_confidence text COLLATE "C",
  platform_first_observed_at timestamptz(3),
  platform_last_confirmed_at timestamptz(3),
  state text COLLATE "C" NOT NULL CHECK (state IN ('candidate', 'reachable', 'verified_ecommerce', 'active_storefront', 'inactive')),
  state_as_of timestamptz(3) NOT NULL,
  is_ecommerce boolean NOT NULL,
  country text COLLATE "C",
  country_basis text COLLATE "C",
  industry text COLLATE "C",
  industry_basis text COLLATE "C",
  product_count integer,
  available_count integer,
  currency text COLLATE "C",
  price_p25 numeric,
  price_median numeric,
  price_p75 numeric,
  catalog_as_of timestamptz(3),
  catalog_coverage text COLLATE "C",
  first_observed_at timestamptz(3),
  last_completed_scan_at timestamptz(3),
  scope text COLLATE "C",
  coverage_note text,
  last_observation_id text COLLATE "C",
  profile text,
  profile_hash text COLLATE "C",
  next_scan_at timestamptz(3) NOT NULL DEFAULT now(),
  moved_to text COLLATE "C" REFERENCES stores
) WITH (toast_tuple_target = 8160);
CREATE INDEX stores_rescan_active ON stores (next_scan_at) WHERE state = 'active_storefront';
CREATE INDEX stores_rescan_others ON stores (next_scan_at) WHERE state <> 'active_storefront';
CREATE INDEX stores_moved_to ON stores (moved_to) WHERE moved_to IS NOT NULL;
COMMENT ON TABLE stores IS 'one row per storefront: what its last observations add up to';
COMMENT ON COLUMN stores.rank IS 'from an imported list of domains';
COMMENT ON COLUMN stores.is_ecommerce IS 'a completed observation showed commerce; without it, and with one, the domain is not_ecommerce';
COMMENT ON COLUMN stores.profile IS 'the Store resource as responses carry it; NULL while there is none to return';
COMMENT ON COLUMN stores.profile_hash IS 'of the text of profile, for ETags';
COMMENT ON COLUMN stores.next_scan_at IS 'from then on the scheduler queues a routine scan';
COMMENT ON COLUMN stores.moved_to IS 'the storefront that this domain redirects to, whose profile it has';

DO $$
BEGIN
  IF 'lz4' = ANY ((SELECT enumvals FROM pg_settings WHERE name = 'default_toast_compression')::text[]) THEN
    ALTER TABLE stores ALTER profile SET COMPRESSION lz4;
  END IF;
END
$$;

CREATE TABLE store_technologies (
  storefront_id text COLLATE "C" NOT NULL REFERENCES stores,
  slug text COLLATE "C" NOT NULL REFERENCES technologies,
  install_state text COLLATE "C" NOT NULL CHECK (install_state IN ('active', 'configured', 'inactive')),
  confidence text COLLATE "C" NOT NULL CHECK (confidence IN ('high', 'medium', 'low')),
  first_observed_at timestamptz(3) NOT NULL,
  last_confirmed_at timestamptz(3) NOT NULL,
  PRIMARY KEY (storefront_id, slug)
);
CREATE INDEX store_technologies_installed ON store_technologies (slug) WHERE install_state <> 'inactive';
COMMENT ON TABLE store_technologies IS 'technologies that a storefront has or had';

CREATE TABLE brand_facts (
  storefront_id text COLLATE "C" NOT NULL PRIMARY KEY REFERENCES stores,
  domain text COLLATE "C" NOT NULL,
  shop_id text COLLATE "C",
  organization_ids text[] NOT NULL,
  organization_domain text COLLATE "C",
  hreflang_domains text[] NOT NULL
);
CREATE INDEX brand_facts_by_domain ON brand_facts (domain);
CREATE INDEX brand_facts_by_shop ON brand_facts (shop_id) WHERE shop_id IS NOT NULL;
CREATE INDEX brand_facts_by_organization ON brand_facts (organization_domain) WHERE organization_domain IS NOT NULL;
CREATE INDEX brand_facts_by_organization_id ON brand_facts USING gin (organization_ids);
COMMENT ON TABLE brand_facts IS 'what stores state about who they are, as of their last open observations';
COMMENT ON COLUMN brand_facts.shop_id IS 'platform:id, as the server states it';
COMMENT ON COLUMN brand_facts.organization_ids IS 'registration numbers, such as vatid:de123456789';
COMMENT ON COLUMN brand_facts.organization_domain IS 'of the URL of the organisation that the store declares';

CREATE TABLE domain_denylist (
  domain text COLLATE "C" NOT NULL PRIMARY KEY,
  reason text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now()
);
COMMENT ON TABLE domain_denylist IS 'domains that are never scanned';

GRANT SELECT, INSERT, UPDATE ON technologies, stores TO vitrine_store_api;
GRANT SELECT ON store_technologies TO vitrine_store_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON domain_denylist TO vitrine_store_api;
GRANT SELECT ON technologies, domain_denylist TO vitrine_enrich;
GRANT SELECT, INSERT, UPDATE ON stores TO vitrine_enrich;
GRANT SELECT, INSERT, UPDATE, DELETE ON store_technologies, brand_facts TO vitrine_enrich;

RESET ROLE;
