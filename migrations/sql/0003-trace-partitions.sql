SET ROLE vitrine_migrations;

-- Partitions are days in UTC, called traces_20260105. Only the owner of a table may make and drop them, so services call these functions,
-- which any replica may do: an advisory lock lets one work, and the others return at once.

CREATE FUNCTION trace_partition_lock() RETURNS boolean
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
  SELECT pg_try_advisory_xact_lock(hashtextextended('vitrine.trace_partitions', 0));
$$;

-- Makes one partition; rows that wait for it in the default partition are moved into it.
CREATE FUNCTION make_trace_partition(parent text, day date) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  name text := parent || '_' || to_char(day, 'YYYYMMDD');
  first timestamptz := day::timestamp AT TIME ZONE 'UTC';
  next timestamptz := (day + 1)::timestamp AT TIME ZONE 'UTC';
BEGIN
  IF to_regclass('public.' || name) IS NOT NULL THEN
    RETURN;
  END IF;
  EXECUTE format('CREATE TABLE public.%I (LIKE public.%I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING COMPRESSION)', name, parent);
  EXECUTE format('WITH moved AS (DELETE FROM public.%I WHERE created_at >= %L AND created_at < %L RETURNING *)
    INSERT INTO public.%I SELECT * FROM moved', parent || '_default', first, next, name);
  EXECUTE format('ALTER TABLE public.%I ATTACH PARTITION public.%I FOR VALUES FROM (%L) TO (%L)', parent, name, first, next);
END
$$;

-- Makes the partitions of today and of `days_ahead` days from now on. Returns the number of days that had none.
CREATE FUNCTION make_trace_partitions(days_ahead integer) RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
  today date := (now() AT TIME ZONE 'UTC')::date;
  day date;
  made integer := 0;
BEGIN
  IF days_ahead NOT BETWEEN 0 AND 30 THEN
    RAISE EXCEPTION 'days_ahead must be 0 to 30';
  END IF;
  IF NOT public.trace_partition_lock() THEN
    RETURN 0;
  END IF;
  FOR day IN SELECT generate_series(today, today + days_ahead, interval '1 day')::date LOOP
    IF to_regclass('public.traces_' || to_char(day, 'YYYYMMDD')) IS NULL THEN
      PERFORM public.make_trace_partition('traces', day), public.make_trace_partition('trace_bodies', day);
      made := made + 1;
    END IF;
  END LOOP;
  RETURN made;
END
$$;

-- Drops the days that ended before `created_before`, at most `max_days` of them, oldest first, and removes older rows of the default
-- partition. Returns the number of days and rows that went; to be called until it is 0. Dropping a day takes milliseconds, whatever it holds.
CREATE FUNCTION drop_trace_partitions(created_before timestamptz, max_days integer DEFAULT 8) RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
  day text;
  removed integer := 0;
  stray integer;
BEGIN
  IF NOT public.trace_partition_lock() THEN
    RETURN 0;
  END IF;
  FOR day IN
    SELECT right(c.relname, 8) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'public.traces'::regclass AND c.relname ~ '^traces_\d{8}$'
      AND (to_date(right(c.relname, 8), 'YYYYMMDD') + 1)::timestamp AT TIME ZONE 'UTC' <= created_before
    ORDER BY 1 LIMIT max_days
  LOOP
    EXECUTE format('DROP TABLE public.%I, public.%I', 'traces_' || day, 'trace_bodies_' || day);
    removed := removed + 1;
  END LOOP;
  DELETE FROM public.trace_bodies_default WHERE created_at < date_trunc('day', created_before, 'UTC');
  DELETE FROM public.traces_default WHERE created_at < date_trunc('day', created_before, 'UTC');
  GET DIAGNOSTICS stray = ROW_COUNT;
  RETURN removed + stray;
END
$$;

REVOKE EXECUTE ON FUNCTION trace_partition_lock(), make_trace_partition(text, date), make_trace_partitions(integer),
  drop_trace_partitions(timestamptz, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION make_trace_partitions(integer), drop_trace_partitions(timestamptz, integer)
  TO vitrine_gateway, vitrine_trace_writer;

RESET ROLE;
