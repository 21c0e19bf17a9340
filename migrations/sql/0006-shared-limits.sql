SET ROLE vitrine_migrations;

-- Limits that gateway processes share (limits.counters: shared). `rate_allotments` says which part of a request rate each process may use:
-- together at most the limit. A process that has not reported for the lease has stopped admitting by its row; what it has admitted until then
-- counts for another window.
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

RESET ROLE;
