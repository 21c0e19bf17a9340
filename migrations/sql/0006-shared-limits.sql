SET ROLE vitrine_migrations;

-- Limits that gateway processes share (limits.counters: shared).

-- A process that has not reported for the lease admits nothing by its row; what it has admitted until then counts for another window.
CREATE TABLE rate_allotments (
  name text COLLATE "C" NOT NULL,
  process uuid NOT NULL,
  allotted integer NOT NULL,
  used integer NOT NULL,
  wanted integer NOT NULL,
  sequence bigint NOT NULL,
  reported_at timestamptz NOT NULL,
  PRIMARY KEY (name, process)
) WITH (fillfactor = 50);
COMMENT ON TABLE rate_allotments IS 'which part of a request rate each gateway process may use: together at most the limit';
COMMENT ON COLUMN rate_allotments.name IS 'org, workspace and, for a key, its id; separated by line feeds';
COMMENT ON COLUMN rate_allotments.used IS 'requests in the window before the report; with wanted, for whoever looks';
COMMENT ON COLUMN rate_allotments.sequence IS 'of the report within its process: one that arrives after a later one changes nothing';

-- Locks limits by name, in one order for all callers, so that they cannot deadlock. Names share 64 locks: the lock table of the server holds
-- some thousands.
CREATE FUNCTION lock_limits(names text[]) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  bucket integer;
BEGIN
  FOR bucket IN SELECT DISTINCT hashtext(name) & 63 FROM unnest(names) AS name ORDER BY 1 LOOP
    PERFORM pg_advisory_xact_lock(hashtext('vitrine.limits'), bucket);
  END LOOP;
END
$$;

-- One report of one process about several limits: it keeps `helds` of each, and gets what is free of it, up to `mosts`. Returns a row for
-- each: the new allotment (NULL for a report that is too old), what each live process wants, in the order of processes, the caller's place
-- among them, and what processes hold that have ceased to report. Time is the server's.
CREATE FUNCTION report_rate_allotments(reporter uuid, report_sequence bigint, window_ms integer, lease_ms integer, names text[], limits integer[],
  helds integer[], useds integer[], mosts integer[], wanteds integer[])
RETURNS TABLE (number bigint, allotted integer, demands integer[], place integer, unreported bigint)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
DECLARE
  at timestamptz;
BEGIN
  PERFORM public.lock_limits(names);
  at := clock_timestamp();
  DELETE FROM public.rate_allotments
  WHERE name = ANY (names) AND reported_at < at - make_interval(secs => (window_ms + lease_ms) / 1000.0);
  RETURN QUERY
    WITH reports AS (
      SELECT * FROM unnest(names, limits, helds, useds, mosts, wanteds) WITH ORDINALITY AS r (name, rate, held, used, most, wanted, number)
    ), others AS (
      SELECT a.name, sum(a.allotted) AS allotted, coalesce(sum(a.allotted) FILTER (WHERE NOT l.alive), 0)::bigint AS unreported,
        coalesce(array_agg(a.wanted ORDER BY a.process) FILTER (WHERE l.alive AND a.process < reporter), '{}') AS before,
        coalesce(array_agg(a.wanted ORDER BY a.process) FILTER (WHERE l.alive AND a.process > reporter), '{}') AS after
      FROM public.rate_allotments a, LATERAL (SELECT a.reported_at >= at - make_interval(secs => lease_ms / 1000.0) AS alive) AS l
      WHERE a.name = ANY (names) AND a.process <> reporter
      GROUP BY a.name
    ), granted AS (
      SELECT r.*, greatest(r.held, least(r.most, r.rate - coalesce(o.allotted, 0)))::integer AS granted
      FROM reports r LEFT JOIN others o USING (name)
    ), written AS (
      INSERT INTO public.rate_allotments AS a
      SELECT g.name, reporter, g.granted, g.used, g.wanted, report_sequence, at FROM granted g
      ON CONFLICT (name, process) DO UPDATE SET allotted = excluded.allotted, used = excluded.used, wanted = excluded.wanted,
        sequence = excluded.sequence, reported_at = excluded.reported_at
      WHERE a.sequence < excluded.sequence
      RETURNING a.name, a.allotted
    )
    SELECT g.number, w.allotted, coalesce(o.before, '{}') || g.wanted || coalesce(o.after, '{}'),
      coalesce(cardinality(o.before), 0) + 1, coalesce(o.unreported, 0)
    FROM granted g LEFT JOIN others o USING (name) LEFT JOIN written w USING (name);
END
$$;

-- Removes rows that count for nothing any more: of keys that are not used any more. Returns their number.
CREATE FUNCTION remove_expired_allotments(older_than_ms integer, max_rows integer DEFAULT 10000) RETURNS bigint
LANGUAGE sql VOLATILE SET search_path = pg_catalog, public, pg_temp AS $$
  WITH expired AS (
    SELECT name, process FROM public.rate_allotments
    WHERE reported_at < now() - make_interval(secs => older_than_ms / 1000.0) LIMIT max_rows FOR UPDATE SKIP LOCKED
  ), removed AS (
    DELETE FROM public.rate_allotments a USING expired e WHERE a.name = e.name AND a.process = e.process RETURNING 1
  )
  SELECT count(*) FROM removed;
$$;

GRANT SELECT, INSERT, UPDATE, DELETE ON rate_allotments TO vitrine_gateway;
REVOKE EXECUTE ON FUNCTION lock_limits(text[]),
  report_rate_allotments(uuid, bigint, integer, integer, text[], integer[], integer[], integer[], integer[], integer[]),
  remove_expired_allotments(integer, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lock_limits(text[]),
  report_rate_allotments(uuid, bigint, integer, integer, text[], integer[], integer[], integer[], integer[], integer[]),
  remove_expired_allotments(integer, integer) TO vitrine_gateway;

-- The usage of all processes and what they have reserved beyond it is at most the quota. Usage stays for the day; what a process has reserved
-- beyond its usage is returned when it has not reported for the lease.
CREATE TABLE quota_reservations (
  day date NOT NULL,
  name text COLLATE "C" NOT NULL,
  unit text COLLATE "C" NOT NULL CHECK (unit IN ('tokens', 'picoUsd')),
  process uuid NOT NULL,
  used numeric NOT NULL,
  allotted numeric NOT NULL,
  sequence bigint NOT NULL,
  reported_at timestamptz NOT NULL,
  PRIMARY KEY (day, name, unit, process)
) WITH (fillfactor = 50);
COMMENT ON TABLE quota_reservations IS 'what each gateway process has used of a daily quota on a UTC day, and up to where it may go on';
COMMENT ON COLUMN quota_reservations.name IS 'org, workspace and, for a key, its id; separated by line feeds';
COMMENT ON COLUMN quota_reservations.unit IS 'tokens, or trillionths of a dollar';
COMMENT ON COLUMN quota_reservations.used IS 'by exchanges of the process whose usage is known';
COMMENT ON COLUMN quota_reservations.sequence IS 'of the report within its process: one that arrives after a later one changes nothing';

-- What stored traces of a day used: of a key, or of a workspace where `name` has no key.
CREATE FUNCTION stored_quota_usage(usage_day date, name text, unit text) RETURNS numeric
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  ids text[] := string_to_array(name, E'\n');
  result numeric;
BEGIN
  IF cardinality(ids) = 3 THEN
    SELECT CASE unit WHEN 'tokens' THEN total_tokens ELSE cost_usd * 1000000000000 END INTO result FROM public.day_usage
    WHERE day = usage_day AND org_id = ids[1] AND workspace_id = ids[2] AND gateway_key_id = ids[3];
  ELSE
    SELECT sum(CASE unit WHEN 'tokens' THEN total_tokens ELSE cost_usd * 1000000000000 END) INTO result FROM public.day_usage
    WHERE day = usage_day AND org_id = ids[1] AND workspace_id = ids[2];
  END IF;
  RETURN coalesce(result, 0);
END
$$;

-- One report of one process about several quotas: it has used `useds`, keeps `helds`, and gets what is free, up to `wanteds`. Returns a row for
-- each: the new allotment (NULL for a report that is too old), what all processes have reported, what stored traces used, and how many
-- processes report. The larger of both sums counts: traces reach the store late, and a process that was killed has not reported its last
-- second. Time is the server's; what processes held before a restart of the server counts for another lease.
CREATE FUNCTION report_quota_usage(reporter uuid, report_sequence bigint, quota_day date, lease_ms integer, names text[], units text[],
  limits numeric[], useds numeric[], helds numeric[], wanteds numeric[])
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
      SELECT r.*, r.used + coalesce(o.used, 0) AS reported, public.stored_quota_usage(quota_day, r.name, r.unit) AS stored,
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

-- Removes reservations of days that are over. An hour later: clocks of gateways differ. Returns their number.
CREATE FUNCTION remove_old_quota_reservations(max_rows integer DEFAULT 10000) RETURNS bigint
LANGUAGE sql VOLATILE SET search_path = pg_catalog, public, pg_temp AS $$
  WITH old AS (
    SELECT day, name, unit, process FROM public.quota_reservations
    WHERE day < ((now() - interval '1 hour') AT TIME ZONE 'UTC')::date LIMIT max_rows FOR UPDATE SKIP LOCKED
  ), removed AS (
    DELETE FROM public.quota_reservations q USING old o
    WHERE q.day = o.day AND q.name = o.name AND q.unit = o.unit AND q.process = o.process RETURNING 1
  )
  SELECT count(*) FROM removed;
$$;

GRANT SELECT, INSERT, UPDATE, DELETE ON quota_reservations TO vitrine_gateway;
REVOKE EXECUTE ON FUNCTION stored_quota_usage(date, text, text),
  report_quota_usage(uuid, bigint, date, integer, text[], text[], numeric[], numeric[], numeric[], numeric[]),
  remove_old_quota_reservations(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION stored_quota_usage(date, text, text),
  report_quota_usage(uuid, bigint, date, integer, text[], text[], numeric[], numeric[], numeric[], numeric[]),
  remove_old_quota_reservations(integer) TO vitrine_gateway;

RESET ROLE;
