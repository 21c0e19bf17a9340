SET ROLE vitrine_migrations;

CREATE TABLE observations (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  storefront_id text COLLATE "C" NOT NULL REFERENCES stores,
  scan_job_id text COLLATE "C",
  started_at timestamptz(3) NOT NULL,
  completed_at timestamptz(3) NOT NULL,
  scope text COLLATE "C" NOT NULL CHECK (scope IN ('full', 'partial', 'homepage_only')),
  registry_checksum text COLLATE "C" NOT NULL,
  facts jsonb NOT NULL,
  evidence jsonb
);
CREATE INDEX observations_with_evidence ON observations (completed_at) WHERE evidence IS NOT NULL;
CREATE INDEX observations_of_store ON observations (storefront_id, completed_at, id);
COMMENT ON TABLE observations IS 'the log of what scans found, which nobody may change';
COMMENT ON COLUMN observations.scan_job_id IS 'no foreign key: finished jobs are removed after days';
COMMENT ON COLUMN observations.facts IS 'what the scan found, for replays of the log';
COMMENT ON COLUMN observations.evidence IS 'what rules were applied to, for replays under new rules; removed after 180 days';

CREATE TABLE rule_sets (
  registry_checksum text COLLATE "C" NOT NULL PRIMARY KEY,
  rule_ids text[] NOT NULL
);
COMMENT ON TABLE rule_sets IS 'the rules of each registry that an observation was read by';

CREATE TABLE observation_replays (
  observation_id text COLLATE "C" NOT NULL REFERENCES observations,
  registry_checksum text COLLATE "C" NOT NULL,
  detections jsonb NOT NULL,
  PRIMARY KEY (observation_id, registry_checksum)
);
COMMENT ON TABLE observation_replays IS 'what other rules made of the evidence of an observation, kept because evidence is removed after 180 days';

CREATE TABLE registry_replays (
  registry_checksum text COLLATE "C" NOT NULL PRIMARY KEY,
  first_seen_at timestamptz(3) NOT NULL DEFAULT now(),
  after_storefront_id text COLLATE "C" NOT NULL DEFAULT '',
  remaining integer NOT NULL,
  next_pass_at timestamptz(3) NOT NULL DEFAULT '-infinity',
  finished_at timestamptz(3)
);
COMMENT ON TABLE registry_replays IS 'one row for each registry that a scanner ran with; stores follow the newest one alone';
COMMENT ON COLUMN registry_replays.after_storefront_id IS 'stores up to this one have been taken by a scanner in this pass';
COMMENT ON COLUMN registry_replays.remaining IS 'stores that stand by other rules, counted at the start of a pass and reduced by those that are taken';

GRANT SELECT ON observations TO vitrine_store_api;
GRANT SELECT, INSERT, UPDATE (evidence) ON observations TO vitrine_enrich;
GRANT SELECT, INSERT ON rule_sets, observation_replays TO vitrine_enrich;
GRANT SELECT, INSERT, UPDATE ON registry_replays TO vitrine_enrich;

RESET ROLE;
