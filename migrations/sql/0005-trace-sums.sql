SET ROLE vitrine_migrations;

-- Adds histograms of latencies: arrays of pairs {bucket, count} (buckets: packages/traces/src/latency-histogram.ts), in the order of buckets.
CREATE FUNCTION add_latencies(one integer[], other integer[]) RETURNS integer[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce(array_agg(ARRAY[bucket, count] ORDER BY bucket), '{}')
  FROM (
    SELECT pairs[i][1] AS bucket, sum(pairs[i][2])::integer AS count
    FROM (SELECT one || other AS pairs) AS both_of_them, generate_subscripts(pairs, 1) AS i
    GROUP BY 1
  ) AS counted;
$$;

-- Rows of a tenant are beside each other. `bucket_start` never changes, so that updates of rows stay heap-only with its index. A histogram of
-- 256 pairs is 2 KB: with the usual toast_tuple_target such a row would be compressed, or split, at every update.
CREATE TABLE trace_sums_by_key_hour (
  bucket_start timestamptz(3) NOT NULL,
  org_id text COLLATE "C" NOT NULL,
  workspace_id text COLLATE "C" NOT NULL,
  gateway_key_id text COLLATE "C" NOT NULL,
  api_key_hash text COLLATE "C" NOT NULL,
  provider text COLLATE "C" NOT NULL,
  model text COLLATE "C" NOT NULL,
  requests bigint NOT NULL,
  errors_4xx bigint NOT NULL,
  errors_5xx bigint NOT NULL,
  streams bigint NOT NULL,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  total_tokens bigint NOT NULL,
  cost_usd numeric(38, 12) NOT NULL,
  latency_ms bigint NOT NULL,
  latency_ms_min bigint NOT NULL,
  latency_ms_max bigint NOT NULL,
  first_token_us bigint NOT NULL,
  last_active_at timestamptz(3) NOT NULL,
  latencies integer[] NOT NULL,
  PRIMARY KEY (org_id, workspace_id, bucket_start, gateway_key_id, api_key_hash, provider, model)
) WITH (fillfactor = 80, toast_tuple_target = 8160);
CREATE TABLE trace_sums_by_key_day (LIKE trace_sums_by_key_hour INCLUDING ALL) WITH (fillfactor = 80, toast_tuple_target = 8160);
CREATE TABLE trace_sums_by_model_hour (
  bucket_start timestamptz(3) NOT NULL,
  org_id text COLLATE "C" NOT NULL,
  workspace_id text COLLATE "C" NOT NULL,
  provider text COLLATE "C" NOT NULL,
  model text COLLATE "C" NOT NULL,
  requests bigint NOT NULL,
  errors_4xx bigint NOT NULL,
  errors_5xx bigint NOT NULL,
  streams bigint NOT NULL,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  total_tokens bigint NOT NULL,
  cost_usd numeric(38, 12) NOT NULL,
  latency_ms bigint NOT NULL,
  latency_ms_min bigint NOT NULL,
  latency_ms_max bigint NOT NULL,
  first_token_us bigint NOT NULL,
  last_active_at timestamptz(3) NOT NULL,
  latencies integer[] NOT NULL,
  PRIMARY KEY (org_id, workspace_id, bucket_start, provider, model)
) WITH (fillfactor = 80, toast_tuple_target = 8160);
CREATE TABLE trace_sums_by_model_day (LIKE trace_sums_by_model_hour INCLUDING ALL) WITH (fillfactor = 80, toast_tuple_target = 8160);
CREATE INDEX trace_sums_by_key_hour_by_time ON trace_sums_by_key_hour (bucket_start);
CREATE INDEX trace_sums_by_key_day_by_time ON trace_sums_by_key_day (bucket_start);
CREATE INDEX trace_sums_by_model_hour_by_time ON trace_sums_by_model_hour (bucket_start);
CREATE INDEX trace_sums_by_model_day_by_time ON trace_sums_by_model_day (bucket_start);
COMMENT ON TABLE trace_sums_by_key_hour IS
  'sums of the traces with a timestamp in one UTC hour, by gateway key, credential and model; written with the traces, and kept when they are removed';
COMMENT ON TABLE trace_sums_by_key_day IS 'as trace_sums_by_key_hour, of UTC days: a month takes a thirtieth of the rows';
COMMENT ON TABLE trace_sums_by_model_hour IS 'the same sums by tenant and model, for queries without a key';
COMMENT ON TABLE trace_sums_by_model_day IS 'as trace_sums_by_model_hour, of UTC days';
COMMENT ON COLUMN trace_sums_by_key_hour.api_key_hash IS 'in hex; empty for exchanges without a credential';
COMMENT ON COLUMN trace_sums_by_key_hour.latencies IS 'pairs {bucket, count}; a bucket may be there several times';
COMMENT ON COLUMN trace_sums_by_model_hour.org_id IS '* with workspace_id * : all tenants; no id has this character';
COMMENT ON COLUMN trace_sums_by_model_day.org_id IS '* with workspace_id * : all tenants; no id has this character';

CREATE TABLE day_usage (
  day date NOT NULL,
  org_id text COLLATE "C" NOT NULL,
  workspace_id text COLLATE "C" NOT NULL,
  gateway_key_id text COLLATE "C" NOT NULL,
  requests bigint NOT NULL,
  total_tokens bigint NOT NULL,
  cost_usd numeric(38, 12) NOT NULL,
  PRIMARY KEY (day, org_id, workspace_id, gateway_key_id)
) WITH (fillfactor = 80);
COMMENT ON TABLE day_usage IS 'what a key used on a UTC day, by the created_at of its traces: quotas count it';

CREATE TABLE background_responses (
  org_id text COLLATE "C" NOT NULL,
  workspace_id text COLLATE "C" NOT NULL,
  response bytea NOT NULL,
  gateway_key_id text COLLATE "C" NOT NULL,
  role text COLLATE "C" NOT NULL,
  model text COLLATE "C" NOT NULL,
  created_at timestamptz(3) NOT NULL,
  counted boolean NOT NULL DEFAULT false,
  PRIMARY KEY (org_id, workspace_id, response)
);
CREATE INDEX background_responses_by_time ON background_responses (created_at);
COMMENT ON TABLE background_responses IS 'responses that were created in the background, each of which is counted once';
COMMENT ON COLUMN background_responses.response IS 'a hash of the id that the provider gave';

CREATE TABLE writer_statistics (
  writer text COLLATE "C" NOT NULL PRIMARY KEY,
  started_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  traces_written bigint NOT NULL DEFAULT 0,
  traces_dropped bigint NOT NULL DEFAULT 0,
  dropped_by jsonb NOT NULL DEFAULT '{}',
  last_dropped_at timestamptz(3),
  last_dropped_by text COLLATE "C"
);
COMMENT ON TABLE writer_statistics IS 'what each writer process has written and dropped, for the diagnostics of the gateway';
COMMENT ON COLUMN writer_statistics.dropped_by IS 'counts by operation and error_class, such as {"write_trace timeout": 3}';
COMMENT ON COLUMN writer_statistics.last_dropped_by IS 'operation and error_class of the last dropped trace, such as write_trace timeout';

GRANT SELECT, INSERT, UPDATE, DELETE ON trace_sums_by_key_hour, trace_sums_by_key_day, trace_sums_by_model_hour, trace_sums_by_model_day,
  day_usage, background_responses, writer_statistics TO vitrine_gateway, vitrine_trace_writer;

RESET ROLE;
