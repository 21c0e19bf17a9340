SET ROLE vitrine_migrations;

-- What stores state of who they are, as their last open observations had it.
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
COMMENT ON COLUMN brand_facts.shop_id IS 'platform:id, as the server states it';
COMMENT ON COLUMN brand_facts.organization_ids IS 'registration numbers, such as vatid:de123456789';
COMMENT ON COLUMN brand_facts.organization_domain IS 'of the URL of the organisation that the store declares';

GRANT SELECT, INSERT, UPDATE ON brand_facts TO vitrine_enrich;

RESET ROLE;
