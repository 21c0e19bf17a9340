SET ROLE vitrine_migrations;

-- The rules by which a store was last read, and how far stores have been read again by those of each registry.
ALTER TABLE derivations ADD registry_checksum text COLLATE "C";
COMMENT ON COLUMN derivations.registry_checksum IS 'of the rules by which the state was last read; NULL before the first open page and where an earlier version wrote it';

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

GRANT SELECT, INSERT, UPDATE ON registry_replays TO vitrine_enrich;

RESET ROLE;
