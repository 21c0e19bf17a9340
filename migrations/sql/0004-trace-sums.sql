SET ROLE vitrine_migrations;

-- A histogram of latencies is an array of pairs {bucket, count} (buckets: packages/traces/src/latency-histogram.ts), in the order of buckets.
CREATE FUNCTION add_latencies(one integer[], other integer[]) RETURNS integer[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce(array_agg(ARRAY[bucket, count] ORDER BY bucket), '{}')
  FROM (
    SELECT pairs[i][1] AS bucket, sum(pairs[i][2])::integer AS count
    FROM (SELECT one || other AS pairs) AS both_of_them, generate_subscripts(pairs, 1) AS i
    GROUP BY 1
  ) AS counted;
$$;

-- Sums of the traces with a `timestamp` in one UTC hour or day (`bucket_start`), written in the transaction of their traces and outliving
-- them. `trace_sums_by_model_*` serves queries without a key; `trace_sums_by_key_*` holds the same sums by gateway key and credential ('' for
-- none; a hash is in hex). Days are for ranges of days: a month takes a thirtieth of the rows.
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
  PRIMARY KEY (bucket_start, org_id, workspace_id, gateway_key_id, api_key_hash, provider, model)
) WITH (fillfactor = 80);
CREATE TABLE trace_sums_by_key_day (LIKE trace_sums_by_key_hour INCLUDING ALL) WITH (fillfactor = 80);
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
  PRIMARY KEY (bucket_start, org_id, workspace_id, provider, model)
) WITH (fillfactor = 80);
CREATE TABLE trace_sums_by_model_day (LIKE trace_sums_by_model_hour INCLUDING ALL) WITH (fillfactor = 80);

-- What a key used on a UTC day, by the `created_at` of its traces: quotas count it.
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

-- Responses that were created in the background; `response` is a hash of the provider's id. Each is counted once.
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

-- What each writer process has written and dropped, for the diagnostics of the gateway.
CREATE TABLE writer_statistics (
  writer text COLLATE "C" NOT NULL PRIMARY KEY,
  started_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  traces_written bigint NOT NULL DEFAULT 0,
  traces_dropped bigint NOT NULL DEFAULT 0,
  dropped_by jsonb NOT NULL DEFAULT '{}'
);
COMMENT ON COLUMN writer_statistics.dropped_by IS 'counts by operation and error_class, such as {"write_trace timeout": 3}';

GRANT SELECT, INSERT, UPDATE, DELETE ON trace_sums_by_key_hour, trace_sums_by_key_day, trace_sums_by_model_hour, trace_sums_by_model_day,
  day_usage, background_responses, writer_statistics TO vitrine_gateway, vitrine_trace_writer;

RESET ROLE;
