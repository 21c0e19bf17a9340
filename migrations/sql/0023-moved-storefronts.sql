SET ROLE vitrine_migrations;

ALTER TABLE stores ADD moved_to text COLLATE "C" REFERENCES stores;
CREATE INDEX stores_moved_to ON stores (moved_to) WHERE moved_to IS NOT NULL;
COMMENT ON COLUMN stores.moved_to IS 'the storefront that this domain redirects to, whose profile it has';

GRANT DELETE ON brand_facts TO vitrine_enrich;

RESET ROLE;
