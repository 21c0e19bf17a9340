SET ROLE vitrine_migrations;

-- As before, and under a lock: a batch that was written while rows were moved, and committed after, stayed in the default partition, so that
-- the new one could not be attached ("updated partition constraint for default partition would be violated"). Writers of the default
-- partition wait for the move; it has rows only when they came before any service had made their partition.
CREATE OR REPLACE FUNCTION make_trace_partition(parent text, day date) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  name text := parent || '_' || to_char(day, 'YYYYMMDD');
  first timestamptz := day::timestamp AT TIME ZONE 'UTC';
  next timestamptz := (day + 1)::timestamp AT TIME ZONE 'UTC';
BEGIN
  IF to_regclass('public.' || name) IS NOT NULL THEN
    RETURN;
  END IF;
  EXECUTE format('LOCK TABLE public.%I IN SHARE ROW EXCLUSIVE MODE', parent || '_default');
  EXECUTE format('CREATE TABLE public.%I (LIKE public.%I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING COMPRESSION)', name, parent);
  EXECUTE format('WITH moved AS (DELETE FROM public.%I WHERE created_at >= %L AND created_at < %L RETURNING *)
    INSERT INTO public.%I SELECT * FROM moved', parent || '_default', first, next, name);
  EXECUTE format('ALTER TABLE public.%I ATTACH PARTITION public.%I FOR VALUES FROM (%L) TO (%L)', parent, name, first, next);
END
$$;

RESET ROLE;
