SET ROLE vitrine_migrations;

-- Retention follows the clock of the database, and gains two days an hour at most.
CREATE TABLE retention_runs (
  name text COLLATE "C" PRIMARY KEY,
  at timestamptz(3) NOT NULL,
  ran_at timestamptz(3) NOT NULL
);
COMMENT ON TABLE retention_runs IS 'one row per loop that removes old data';
COMMENT ON COLUMN retention_runs.at IS 'the time by which data was removed last; behind ran_at while it catches up';
COMMENT ON COLUMN retention_runs.ran_at IS 'the clock of the database at that run';

GRANT SELECT, INSERT, UPDATE ON retention_runs TO vitrine_gateway, vitrine_trace_writer, vitrine_store_api, vitrine_enrich;

RESET ROLE;
