SET ROLE vitrine_migrations;

-- A relay publishes only the oldest message of each key that is not published, so that relays beside each other keep the order of a key.
CREATE INDEX outbox_unpublished_by_key ON outbox (topic, key, id) WHERE published_at IS NULL;
-- In the order in which a topic is drained.
CREATE INDEX outbox_unpublished_by_topic ON outbox (topic, id) WHERE published_at IS NULL;

-- The store API removes what is old, of jobs too.
GRANT DELETE ON scan_jobs TO vitrine_store_api;

RESET ROLE;
