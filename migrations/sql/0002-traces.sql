SET ROLE vitrine_migrations;

-- One row an exchange. Columns are the specification's fields; `request_headers`, bodies and `metadata` stand in `trace_bodies`, so that lists
-- read narrow rows. `id` is a UUIDv7 with `created_at` as its time: the order of ids is the order of (created_at, id), and an id determines
-- its partition. Text compares by bytes, as programs compare it.
CREATE TABLE traces (
  id uuid NOT NULL,
  created_at timestamptz(3) NOT NULL,
  "timestamp" timestamptz(3) NOT NULL,
  org_id text COLLATE "C" NOT NULL,
  workspace_id text COLLATE "C" NOT NULL,
  gateway_key_id text COLLATE "C" NOT NULL,
  role text COLLATE "C" NOT NULL,
  provider text COLLATE "C" NOT NULL,
  model text COLLATE "C" NOT NULL,
  request_method text COLLATE "C" NOT NULL,
  request_path text COLLATE "C" NOT NULL,
  response_status smallint NOT NULL,
  outcome text COLLATE "C" NOT NULL,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  total_tokens bigint NOT NULL,
  usage_status text COLLATE "C" NOT NULL,
  latency_ms bigint NOT NULL,
  time_to_first_token_us bigint NOT NULL,
  api_key_hash bytea,
  estimated_cost_usd numeric(38, 12) NOT NULL,
  cost_status text COLLATE "C" NOT NULL,
  trace_group_id text COLLATE "C",
  group_fallback boolean,
  thread_id text COLLATE "C",
  run_id text COLLATE "C",
  parent_checkpoint_id text COLLATE "C",
  checkpoint_seq bigint,
  PRIMARY KEY (id, created_at)
) PARTITION BY RANGE (created_at);
COMMENT ON COLUMN traces.api_key_hash IS 'SHA-256 of the provider credential, never of the gateway key';
COMMENT ON COLUMN traces.group_fallback IS 'the group is the trace id of a traceparent: a label, not what the client named';

-- Lists are ordered by id, newest first, of one tenant or of all; the primary key serves the latter. Lineage and failures are rare, and
-- their indexes partial: an ordinary row costs them nothing.
CREATE INDEX traces_of_tenant ON traces (org_id, workspace_id, id);
CREATE INDEX traces_of_model ON traces (model, id);
CREATE INDEX traces_of_credential ON traces (api_key_hash, id) WHERE api_key_hash IS NOT NULL;
CREATE INDEX traces_of_group ON traces (trace_group_id, id) WHERE trace_group_id IS NOT NULL;
CREATE INDEX traces_of_thread ON traces (thread_id, id) WHERE thread_id IS NOT NULL;
CREATE INDEX traces_of_run ON traces (run_id, id) WHERE run_id IS NOT NULL;
CREATE INDEX traces_of_status ON traces (response_status, id) WHERE response_status <> 200;
CREATE INDEX traces_by_time ON traces USING brin ("timestamp") WITH (pages_per_range = 32);

CREATE TABLE trace_bodies (
  id uuid NOT NULL,
  created_at timestamptz(3) NOT NULL,
  request_headers text NOT NULL,
  response_headers text NOT NULL,
  request_body text,
  response_body text,
  metadata text NOT NULL,
  PRIMARY KEY (id, created_at)
) PARTITION BY RANGE (created_at);
COMMENT ON COLUMN trace_bodies.request_headers IS 'redacted header lines';
COMMENT ON COLUMN trace_bodies.metadata IS 'JSON as text: nothing is queried by its keys, and text is written a quarter faster';

-- Rows of days without a partition: a clock was wrong, or a spool was drained late.
CREATE TABLE traces_default PARTITION OF traces DEFAULT;
CREATE TABLE trace_bodies_default PARTITION OF trace_bodies DEFAULT;

-- lz4 halves the time of compressing bodies; not every server is built with it. Partitions inherit the choice.
DO $$
BEGIN
  IF 'lz4' = ANY ((SELECT enumvals FROM pg_settings WHERE name = 'default_toast_compression')::text[]) THEN
    ALTER TABLE trace_bodies ALTER request_headers SET COMPRESSION lz4, ALTER response_headers SET COMPRESSION lz4,
      ALTER request_body SET COMPRESSION lz4, ALTER response_body SET COMPRESSION lz4, ALTER metadata SET COMPRESSION lz4;
    ALTER TABLE trace_bodies_default ALTER request_headers SET COMPRESSION lz4, ALTER response_headers SET COMPRESSION lz4,
      ALTER request_body SET COMPRESSION lz4, ALTER response_body SET COMPRESSION lz4, ALTER metadata SET COMPRESSION lz4;
  END IF;
END
$$;

GRANT SELECT, INSERT ON traces, trace_bodies TO vitrine_gateway, vitrine_trace_writer;

RESET ROLE;
