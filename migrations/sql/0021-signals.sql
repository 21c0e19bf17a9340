SET ROLE vitrine_migrations;

-- What signals are derived with, beside the log of observations.

CREATE TABLE derivations (
  storefront_id text COLLATE "C" NOT NULL PRIMARY KEY REFERENCES stores,
  state jsonb NOT NULL
);
COMMENT ON TABLE derivations IS 'what the log of a store adds up to, so that an observation is compared without reading it; can be derived again';

CREATE TABLE rule_sets (
  registry_checksum text COLLATE "C" NOT NULL PRIMARY KEY,
  rule_ids text[] NOT NULL
);

CREATE TABLE observation_replays (
  observation_id text COLLATE "C" NOT NULL REFERENCES observations,
  registry_checksum text COLLATE "C" NOT NULL,
  detections jsonb NOT NULL,
  PRIMARY KEY (observation_id, registry_checksum)
);
COMMENT ON TABLE observation_replays IS 'what other rules made of the evidence of an observation, kept because evidence is removed after 180 days';

CREATE TABLE technology_losses (
  slug text COLLATE "C" NOT NULL REFERENCES technologies,
  day date NOT NULL,
  storefront_id text COLLATE "C" NOT NULL REFERENCES stores,
  PRIMARY KEY (slug, day, storefront_id)
);
COMMENT ON TABLE technology_losses IS 'stores that missed a technology for the third time on a day in UTC, held or not; removed after a week';

CREATE TABLE removal_holds (
  slug text COLLATE "C" NOT NULL REFERENCES technologies,
  held_from timestamptz(3) NOT NULL,
  held_until timestamptz(3) NOT NULL,
  losses integer NOT NULL,
  base integer NOT NULL,
  PRIMARY KEY (slug, held_from)
);
COMMENT ON TABLE removal_holds IS 'removals of a technology confirmed in this time are not applied before its end: too many stores lost it at once';
COMMENT ON COLUMN removal_holds.base IS 'stores that had it, counted as far as the decision needed';
CREATE INDEX removal_holds_by_end ON removal_holds (held_until);
CREATE INDEX store_technologies_installed ON store_technologies (slug) WHERE install_state <> 'inactive';

ALTER TABLE signals ADD withdrawn_at timestamptz(3);
COMMENT ON COLUMN signals.withdrawn_at IS 'when an observation that arrived late showed that it was none; nothing shows it since';

DROP INDEX observations_of_store;
CREATE INDEX observations_of_store ON observations (storefront_id, completed_at, id);

GRANT SELECT, INSERT, UPDATE ON derivations TO vitrine_enrich;
GRANT SELECT, INSERT ON rule_sets, observation_replays, removal_holds TO vitrine_enrich;
GRANT SELECT, INSERT, DELETE ON technology_losses TO vitrine_enrich;
GRANT UPDATE ON signals TO vitrine_enrich;
GRANT DELETE ON store_technologies TO vitrine_enrich;

RESET ROLE;
