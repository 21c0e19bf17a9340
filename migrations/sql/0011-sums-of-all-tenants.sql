SET ROLE vitrine_migrations;

-- Rows of a tenant stand beside each other: before, its queries read the rows of all tenants. Of hours and days that are over there are rows
-- of all tenants too, which a job adds up: in the transactions of traces they would cost a batch a third more. `bucket_start` never
-- changes, so that updates of rows stay heap-only with its index.
ALTER TABLE trace_sums_by_key_hour DROP CONSTRAINT trace_sums_by_key_hour_pkey,
  ADD PRIMARY KEY (org_id, workspace_id, bucket_start, gateway_key_id, api_key_hash, provider, model);
ALTER TABLE trace_sums_by_key_day DROP CONSTRAINT trace_sums_by_key_day_pkey,
  ADD PRIMARY KEY (org_id, workspace_id, bucket_start, gateway_key_id, api_key_hash, provider, model);
ALTER TABLE trace_sums_by_model_hour DROP CONSTRAINT trace_sums_by_model_hour_pkey,
  ADD PRIMARY KEY (org_id, workspace_id, bucket_start, provider, model);
ALTER TABLE trace_sums_by_model_day DROP CONSTRAINT trace_sums_by_model_day_pkey,
  ADD PRIMARY KEY (org_id, workspace_id, bucket_start, provider, model);
CREATE INDEX trace_sums_by_key_hour_by_time ON trace_sums_by_key_hour (bucket_start);
CREATE INDEX trace_sums_by_key_day_by_time ON trace_sums_by_key_day (bucket_start);
CREATE INDEX trace_sums_by_model_hour_by_time ON trace_sums_by_model_hour (bucket_start);
CREATE INDEX trace_sums_by_model_day_by_time ON trace_sums_by_model_day (bucket_start);
COMMENT ON COLUMN trace_sums_by_model_hour.org_id IS '* with workspace_id * : all tenants, complete where trace_hours says so; no id has this character';
COMMENT ON COLUMN trace_sums_by_model_day.org_id IS '* with workspace_id * : all tenants, complete where trace_hours says so; no id has this character';

ALTER TABLE trace_hours
  ADD COLUMN hour_is_summed boolean NOT NULL DEFAULT false,
  ADD COLUMN day_is_summed boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN trace_hours.hour_is_summed IS 'the rows of all tenants in trace_sums_by_model_hour have all of its traces';
COMMENT ON COLUMN trace_hours.day_is_summed IS 'the rows of all tenants in trace_sums_by_model_day have all of its traces';

RESET ROLE;
