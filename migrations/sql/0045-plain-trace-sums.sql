SET ROLE vitrine_migrations;

-- Writers add to the rows of all tenants in the transaction of their traces: no job adds them up any more, and none packs them. Hours and days that
-- the job had not reached are added up here for the last time. Writers wait for this lock, and those of earlier versions fail after it.
LOCK TABLE trace_hours IN ACCESS EXCLUSIVE MODE;

DO $$
DECLARE
  unit text;
BEGIN
  FOREACH unit IN ARRAY ARRAY['hour', 'day'] LOOP
    EXECUTE format($sql$
      DELETE FROM trace_sums_by_model_%1$s WHERE org_id = '*' AND workspace_id = '*'
        AND bucket_start IN (SELECT date_trunc('%1$s', hour, 'UTC') FROM trace_hours WHERE NOT %1$s_is_summed)
    $sql$, unit);
    EXECUTE format($sql$
      WITH rows AS (
        SELECT * FROM trace_sums_by_model_%1$s
        WHERE org_id <> '*' AND bucket_start IN (SELECT date_trunc('%1$s', hour, 'UTC') FROM trace_hours WHERE NOT %1$s_is_summed)
      ), counts AS (
        SELECT bucket_start, provider, model, latencies[i][1] AS bucket, sum(latencies[i][2])::integer AS count
        FROM rows, generate_subscripts(latencies, 1) AS i GROUP BY 1, 2, 3, 4
      ), histograms AS (
        SELECT bucket_start, provider, model, array_agg(ARRAY[bucket, count] ORDER BY bucket) AS latencies FROM counts GROUP BY 1, 2, 3
      ), sums AS (
        SELECT bucket_start, '*', '*', provider, model, sum(requests), sum(errors_4xx), sum(errors_5xx), sum(streams), sum(input_tokens),
          sum(output_tokens), sum(total_tokens), sum(cost_usd), sum(latency_ms), min(latency_ms_min), max(latency_ms_max),
          sum(first_token_us), max(last_active_at)
        FROM rows GROUP BY bucket_start, provider, model
      )
      INSERT INTO trace_sums_by_model_%1$s SELECT sums.*, latencies FROM sums JOIN histograms USING (bucket_start, provider, model)
    $sql$, unit);
  END LOOP;
END
$$;
COMMENT ON COLUMN trace_sums_by_model_hour.org_id IS '* with workspace_id * : all tenants; no id has this character';
COMMENT ON COLUMN trace_sums_by_model_day.org_id IS '* with workspace_id * : all tenants; no id has this character';

DROP TRIGGER trace_hours_added_to ON trace_hours;
DROP FUNCTION forget_packed_sums();
ALTER TABLE trace_hours
  DROP COLUMN hour_is_summed,
  DROP COLUMN day_is_summed,
  DROP COLUMN hour_is_packed,
  DROP COLUMN day_is_packed,
  DROP COLUMN hour_is_packed_by_provider,
  DROP COLUMN day_is_packed_by_provider;
DROP TABLE trace_sums_packed_hour, trace_sums_packed_day;

RESET ROLE;
