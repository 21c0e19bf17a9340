SET ROLE vitrine_migrations;

-- The sums of one hour or day that is over, of all groups in a row: element n of each array belongs to element n of `names`. A month by model
-- and hour is 720 rows, which as rows of `trace_sums_by_model_hour` are 30,000. A job makes them of those; nothing else is in them. Arrays are
-- JSON because their text is the value: `json_array_elements_text(names)` reads them in SQL.
CREATE TABLE trace_sums_packed_hour (
  bucket_start timestamptz(3) NOT NULL,
  org_id text COLLATE "C" NOT NULL,
  workspace_id text COLLATE "C" NOT NULL,
  grouped_by text COLLATE "C" NOT NULL CHECK (grouped_by IN ('provider', 'model', 'key', 'api_key_hash')),
  chunk integer NOT NULL,
  names json NOT NULL,
  requests json NOT NULL,
  errors_4xx json NOT NULL,
  errors_5xx json NOT NULL,
  streams json NOT NULL,
  input_tokens json NOT NULL,
  output_tokens json NOT NULL,
  total_tokens json NOT NULL,
  cost_usd json NOT NULL,
  latency_ms json NOT NULL,
  latency_ms_min json NOT NULL,
  latency_ms_max json NOT NULL,
  first_token_us json NOT NULL,
  last_active_at json NOT NULL,
  latencies bytea NOT NULL,
  PRIMARY KEY (org_id, workspace_id, grouped_by, bucket_start, chunk)
) WITH (toast_tuple_target = 8160);
-- Series leave the histograms out; what reads them needs them whole.
ALTER TABLE trace_sums_packed_hour ALTER COLUMN latencies SET STORAGE EXTERNAL;
CREATE TABLE trace_sums_packed_day (LIKE trace_sums_packed_hour INCLUDING ALL) WITH (toast_tuple_target = 8160);
CREATE INDEX trace_sums_packed_hour_by_time ON trace_sums_packed_hour (bucket_start);
CREATE INDEX trace_sums_packed_day_by_time ON trace_sums_packed_day (bucket_start);
COMMENT ON COLUMN trace_sums_packed_hour.org_id IS '* with workspace_id * : all tenants';
COMMENT ON COLUMN trace_sums_packed_hour.chunk IS 'groups beyond 1,024 are in further rows';
COMMENT ON COLUMN trace_sums_packed_hour.cost_usd IS 'texts: numbers of JSON would lose digits';
COMMENT ON COLUMN trace_sums_packed_hour.last_active_at IS 'milliseconds since 1970';
COMMENT ON COLUMN trace_sums_packed_hour.latencies IS
  'for each group the number of its buckets, then for each bucket its distance from the one before and its count: LEB128';

-- Both are false after every batch that adds to the hour: a trigger does it, so that no writer can forget it, of whatever version.
ALTER TABLE trace_hours
  ADD COLUMN hour_is_packed boolean NOT NULL DEFAULT false,
  ADD COLUMN day_is_packed boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN trace_hours.hour_is_packed IS 'trace_sums_packed_hour has all of its traces';
COMMENT ON COLUMN trace_hours.day_is_packed IS 'trace_sums_packed_day has all of its traces';
CREATE FUNCTION forget_packed_sums() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  NEW.hour_is_packed := false;
  NEW.day_is_packed := false;
  RETURN NEW;
END
$$;
CREATE TRIGGER trace_hours_added_to BEFORE UPDATE OF hour_is_summed ON trace_hours FOR EACH ROW
  WHEN (NOT NEW.hour_is_summed) EXECUTE FUNCTION forget_packed_sums();

GRANT SELECT, INSERT, DELETE ON trace_sums_packed_hour, trace_sums_packed_day TO vitrine_gateway, vitrine_trace_writer;

RESET ROLE;
