SET ROLE vitrine_migrations;

-- Retention follows the clock of the database, and gains two days an hour at most: a row for each of its loops.
CREATE TABLE retention_runs (
  name text COLLATE "C" PRIMARY KEY,
  at timestamptz(3) NOT NULL,
  ran_at timestamptz(3) NOT NULL
);
COMMENT ON COLUMN retention_runs.at IS 'the time by which data was removed last; behind ran_at while it catches up';
COMMENT ON COLUMN retention_runs.ran_at IS 'the clock of the database at that run';

-- Takes the place of drop_trace_partitions, and returns what it removed. At most `max_days` days go, oldest first.
CREATE FUNCTION remove_old_traces(created_before timestamptz, max_days integer DEFAULT 8)
RETURNS TABLE (what text, removed bigint, oldest timestamptz, newest timestamptz)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
  day date;
BEGIN
  IF NOT public.trace_partition_lock() THEN
    RETURN;
  END IF;
  what := 'days of traces';
  removed := 0;
  FOR day IN
    SELECT to_date(right(c.relname, 8), 'YYYYMMDD') FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'public.traces'::regclass AND c.relname ~ '^traces_\d{8}$'
      AND (to_date(right(c.relname, 8), 'YYYYMMDD') + 1)::timestamp AT TIME ZONE 'UTC' <= created_before
    ORDER BY 1 LIMIT max_days
  LOOP
    EXECUTE format('DROP TABLE public.%I, public.%I', 'traces_' || to_char(day, 'YYYYMMDD'), 'trace_bodies_' || to_char(day, 'YYYYMMDD'));
    removed := removed + 1;
    oldest := coalesce(oldest, day::timestamp AT TIME ZONE 'UTC');
    newest := (day + 1)::timestamp AT TIME ZONE 'UTC';
  END LOOP;
  IF removed > 0 THEN
    RETURN NEXT;
  END IF;
  DELETE FROM public.trace_bodies_default WHERE created_at < date_trunc('day', created_before, 'UTC');
  WITH gone AS (DELETE FROM public.traces_default WHERE created_at < date_trunc('day', created_before, 'UTC') RETURNING created_at)
    SELECT 'traces', count(*), min(created_at), max(created_at) INTO what, removed, oldest, newest FROM gone;
  IF removed > 0 THEN
    RETURN NEXT;
  END IF;
END
$$;

-- Gateways of earlier versions pass a time of their own clock. Until they are replaced, the others remove what is old.
CREATE OR REPLACE FUNCTION drop_trace_partitions(created_before timestamptz, max_days integer DEFAULT 8) RETURNS integer
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  SELECT 0;
$$;

REVOKE EXECUTE ON FUNCTION remove_old_traces(timestamptz, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION remove_old_traces(timestamptz, integer) TO vitrine_gateway, vitrine_trace_writer;
GRANT SELECT, INSERT, UPDATE ON retention_runs TO vitrine_gateway, vitrine_trace_writer, vitrine_store_api, vitrine_enrich;

RESET ROLE;
