SET ROLE vitrine_migrations;

CREATE TABLE signals (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  storefront_id text COLLATE "C" NOT NULL REFERENCES stores,
  observation_id text COLLATE "C" NOT NULL REFERENCES observations,
  type text COLLATE "C" NOT NULL,
  technology text COLLATE "C" REFERENCES technologies,
  "from" text COLLATE "C" REFERENCES technologies,
  "to" text COLLATE "C" REFERENCES technologies,
  effective_at timestamptz(3) NOT NULL,
  confirmed_at timestamptz(3) NOT NULL,
  confidence text COLLATE "C" NOT NULL CHECK (confidence IN ('high', 'medium', 'low')),
  withdrawn_at timestamptz(3)
);
CREATE INDEX signals_of_store ON signals (storefront_id, confirmed_at DESC, id);
COMMENT ON TABLE signals IS 'changes of stores that observations confirmed';
COMMENT ON COLUMN signals.observation_id IS 'the one that confirmed it';
COMMENT ON COLUMN signals.withdrawn_at IS 'when an observation that arrived late showed that it was none; nothing shows it since';

CREATE TABLE derivations (
  storefront_id text COLLATE "C" NOT NULL PRIMARY KEY REFERENCES stores,
  state jsonb NOT NULL,
  registry_checksum text COLLATE "C"
);
COMMENT ON TABLE derivations IS 'what the log of a store adds up to, so that an observation is compared without reading it; can be derived again';
COMMENT ON COLUMN derivations.registry_checksum IS 'of the rules by which the state was last read; NULL before the first open page and where an earlier version wrote it';

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
CREATE INDEX removal_holds_by_end ON removal_holds (held_until);
COMMENT ON TABLE removal_holds IS 'removals of a technology confirmed in this time are not applied before its end: too many stores lost it at once';
COMMENT ON COLUMN removal_holds.base IS 'stores that had it, counted as far as the decision needed';

GRANT SELECT ON signals TO vitrine_store_api;
GRANT SELECT, INSERT, UPDATE ON signals, derivations TO vitrine_enrich;
GRANT SELECT, INSERT, DELETE ON technology_losses TO vitrine_enrich;
GRANT SELECT, INSERT ON removal_holds TO vitrine_enrich;

RESET ROLE;
