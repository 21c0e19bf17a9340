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

GRANT SELECT, INSERT, UPDATE, DELETE ON trace_hours TO vitrine_gateway, vitrine_trace_writer;
GRANT SELECT, UPDATE ON trace_retention TO vitrine_gateway, vitrine_trace_writer;

RESET ROLE;
