SET ROLE vitrine_migrations;

-- What is not known of costs and usage. Rows from before have no upper bound of their own: everything was counted as known.
ALTER TABLE traces ADD COLUMN cost_upper_usd numeric(38, 12), ADD COLUMN response_model text COLLATE "C";
CREATE INDEX traces_of_usage_status ON traces (usage_status, id) WHERE usage_status <> 'reported';
CREATE INDEX traces_of_cost_status ON traces (cost_status, id) WHERE cost_status <> 'priced';
COMMENT ON COLUMN traces.cost_upper_usd IS 'an upper bound of the cost; NULL in older rows, where it is the cost';
COMMENT ON COLUMN traces.response_model IS 'the model that served, if it is not the requested one; sums are by it';

ALTER TABLE trace_sums_by_key_hour ADD COLUMN rejected bigint NOT NULL DEFAULT 0, ADD COLUMN unpriced bigint NOT NULL DEFAULT 0,
  ADD COLUMN estimated bigint NOT NULL DEFAULT 0, ADD COLUMN missing_usage bigint NOT NULL DEFAULT 0,
  ADD COLUMN cost_upper_usd numeric(38, 12) NOT NULL DEFAULT 0;
ALTER TABLE trace_sums_by_key_day ADD COLUMN rejected bigint NOT NULL DEFAULT 0, ADD COLUMN unpriced bigint NOT NULL DEFAULT 0,
  ADD COLUMN estimated bigint NOT NULL DEFAULT 0, ADD COLUMN missing_usage bigint NOT NULL DEFAULT 0,
  ADD COLUMN cost_upper_usd numeric(38, 12) NOT NULL DEFAULT 0;
ALTER TABLE trace_sums_by_model_hour ADD COLUMN rejected bigint NOT NULL DEFAULT 0, ADD COLUMN unpriced bigint NOT NULL DEFAULT 0,
  ADD COLUMN estimated bigint NOT NULL DEFAULT 0, ADD COLUMN missing_usage bigint NOT NULL DEFAULT 0,
  ADD COLUMN cost_upper_usd numeric(38, 12) NOT NULL DEFAULT 0;
ALTER TABLE trace_sums_by_model_day ADD COLUMN rejected bigint NOT NULL DEFAULT 0, ADD COLUMN unpriced bigint NOT NULL DEFAULT 0,
  ADD COLUMN estimated bigint NOT NULL DEFAULT 0, ADD COLUMN missing_usage bigint NOT NULL DEFAULT 0,
  ADD COLUMN cost_upper_usd numeric(38, 12) NOT NULL DEFAULT 0;
UPDATE trace_sums_by_key_hour SET cost_upper_usd = cost_usd;
UPDATE trace_sums_by_key_day SET cost_upper_usd = cost_usd;
UPDATE trace_sums_by_model_hour SET cost_upper_usd = cost_usd;
UPDATE trace_sums_by_model_day SET cost_upper_usd = cost_usd;

ALTER TABLE day_usage ADD COLUMN estimated_tokens bigint NOT NULL DEFAULT 0, ADD COLUMN cost_upper_usd numeric(38, 12) NOT NULL DEFAULT 0;
UPDATE day_usage SET cost_upper_usd = cost_usd;
COMMENT ON COLUMN day_usage.total_tokens IS 'with estimates of unknown usage';
COMMENT ON COLUMN day_usage.estimated_tokens IS 'the part of total_tokens that no provider reported';

-- Quotas count upper bounds, or only what is known.
DROP FUNCTION report_quota_usage(uuid, bigint, date, integer, text[], text[], numeric[], numeric[], numeric[], numeric[]);
DROP FUNCTION stored_quota_usage(date, text, text);

-- What stored traces of a day used: of a key, or of a workspace where `name` has no key.
CREATE FUNCTION stored_quota_usage(usage_day date, name text, unit text, counts_unknown boolean) RETURNS numeric
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  ids text[] := string_to_array(name, E'\n');
  result numeric;
BEGIN
  SELECT sum(CASE
    WHEN unit = 'tokens' AND counts_unknown THEN total_tokens
    WHEN unit = 'tokens' THEN total_tokens - estimated_tokens
    WHEN counts_unknown THEN cost_upper_usd * 1000000000000
    ELSE cost_usd * 1000000000000 END) INTO result FROM public.day_usage
  WHERE day = usage_day AND org_id = ids[1] AND workspace_id = ids[2] AND (cardinality(ids) < 3 OR gateway_key_id = ids[3]);
  RETURN coalesce(result, 0);
END
$$;

-- One report of one process about several quotas: it has used `useds`, keeps `helds`, and gets what is free, up to `wanteds`. Returns a row for
-- each: the new allotment (NULL for a report that is too old), what all processes have reported, what stored traces used, and how many
-- processes report. The larger of both sums counts: traces reach the store late, and a process that was killed has not reported its last
-- second. `counts_unknown`: whether upper bounds of what is not known count. Time is the server's; what processes held before a restart of the server counts for another lease.
CREATE FUNCTION report_quota_usage(reporter uuid, report_sequence bigint, quota_day date, lease_ms integer, names text[], units text[],
  limits numeric[], useds numeric[], helds numeric[], wanteds numeric[], counts_unknown boolean DEFAULT true)
RETURNS TABLE (number bigint, allotted numeric, reported numeric, stored numeric, processes integer)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
DECLARE
  live_since timestamptz;
BEGIN
  PERFORM public.lock_limits(names);
  live_since := clock_timestamp() - make_interval(secs => lease_ms / 1000.0);
  IF pg_postmaster_start_time() <= live_since THEN
    UPDATE public.quota_reservations SET allotted = used
    WHERE day = quota_day AND name = ANY (names) AND process <> reporter AND reported_at < live_since AND allotted > used;
  END IF;
  RETURN QUERY
    WITH reports AS (
      SELECT * FROM unnest(names, units, limits, useds, helds, wanteds) WITH ORDINALITY AS r (name, unit, quota, used, held, wanted, number)
    ), others AS (
      SELECT name, unit, sum(used) AS used, sum(greatest(allotted - used, 0)) AS reserved,
        (count(*) FILTER (WHERE reported_at >= live_since))::integer AS processes
      FROM public.quota_reservations WHERE day = quota_day AND name = ANY (names) AND process <> reporter
      GROUP BY name, unit
    ), known AS (
      SELECT r.*, r.used + coalesce(o.used, 0) AS reported, public.stored_quota_usage(quota_day, r.name, r.unit, counts_unknown) AS stored,
        coalesce(o.reserved, 0) AS reserved, coalesce(o.processes, 0) + 1 AS processes
      FROM reports r LEFT JOIN others o USING (name, unit)
    ), written AS (
      INSERT INTO public.quota_reservations AS q
      SELECT quota_day, k.name, k.unit, reporter, k.used,
        greatest(k.held, least(k.wanted, k.used + k.quota - greatest(k.reported, k.stored) - k.reserved)), report_sequence, clock_timestamp()
      FROM known k
      ON CONFLICT (day, name, unit, process) DO UPDATE SET used = excluded.used, allotted = excluded.allotted,
        sequence = excluded.sequence, reported_at = excluded.reported_at
      WHERE q.sequence < excluded.sequence
      RETURNING q.name, q.unit, q.allotted
    )
    SELECT k.number, w.allotted, k.reported, k.stored, k.processes FROM known k LEFT JOIN written w USING (name, unit);
END
$$;

REVOKE EXECUTE ON FUNCTION stored_quota_usage(date, text, text, boolean),
  report_quota_usage(uuid, bigint, date, integer, text[], text[], numeric[], numeric[], numeric[], numeric[], boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION stored_quota_usage(date, text, text, boolean),
  report_quota_usage(uuid, bigint, date, integer, text[], text[], numeric[], numeric[], numeric[], numeric[], boolean) TO vitrine_gateway;

RESET ROLE;
