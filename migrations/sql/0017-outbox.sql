SET ROLE vitrine_migrations;

CREATE TABLE outbox (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  topic text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  payload text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  published_at timestamptz(3)
);
CREATE INDEX outbox_unpublished ON outbox (id) WHERE published_at IS NULL;
CREATE INDEX outbox_published ON outbox (published_at) WHERE published_at IS NOT NULL;
-- A relay publishes only the oldest unpublished message of each key, so that relays beside each other keep the order of a key.
CREATE INDEX outbox_unpublished_by_key ON outbox (topic, key, id) WHERE published_at IS NULL;
-- In the order in which a topic is drained.
CREATE INDEX outbox_unpublished_by_topic ON outbox (topic, id) WHERE published_at IS NULL;
COMMENT ON TABLE outbox IS 'messages of committed transactions, until a relay has published them';
COMMENT ON COLUMN outbox.payload IS 'JSON';

GRANT SELECT, INSERT, UPDATE, DELETE ON outbox TO vitrine_store_api, vitrine_enrich;

RESET ROLE;
