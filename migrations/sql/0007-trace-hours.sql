SET ROLE vitrine_migrations;

-- Between which `created_at` the traces of an hour of `timestamp` were made: lists and measures by time read these partitions only. An
-- exchange may take hours, and a clock may be set meanwhile, so that neither follows from the other.
CREATE TABLE trace_hours (
  hour timestamptz(3) NOT NULL PRIMARY KEY,
  first_created_at timestamptz(3) NOT NULL,
  last_created_at timestamptz(3) NOT NULL
) WITH (fillfactor = 50);

-- One row. Traces made before `removed_before` are gone: what they were is only in the sums.
CREATE TABLE trace_retention (
  removed_before timestamptz(3) NOT NULL,
  is_only boolean NOT NULL DEFAULT true PRIMARY KEY CHECK (is_only)
);
INSERT INTO trace_retention VALUES ('epoch');

-- With these hours nothing looks for a `timestamp` by itself. What is rare and has no index of its own, such as traces of very many tokens,
-- is found by the extremes of 32 pages, which cost a write next to nothing.
DROP INDEX traces_by_time;
CREATE INDEX traces_by_extremes ON traces USING brin (total_tokens, provider) WITH (pages_per_range = 32, autosummarize = on);

-- A histogram of 256 pairs is 2 KB: from there on a row would be compressed, or split, each time that it changes.
ALTER TABLE trace_sums_by_key_hour SET (toast_tuple_target = 8160);
ALTER TABLE trace_sums_by_key_day SET (toast_tuple_target = 8160);
ALTER TABLE trace_sums_by_model_hour SET (toast_tuple_target = 8160);
ALTER TABLE trace_sums_by_model_day SET (toast_tuple_target = 8160);
COMMENT ON COLUMN trace_sums_by_key_hour.latencies IS 'pairs {bucket, count}; a bucket may be there several times';

GRANT SELECT, INSERT, UPDATE, DELETE ON trace_hours TO vitrine_gateway, vitrine_trace_writer;
GRANT SELECT, UPDATE ON trace_retention TO vitrine_gateway, vitrine_trace_writer;

RESET ROLE;
