SET ROLE vitrine_migrations;

-- As before (0014, 0015), and the parent is locked first. An INSERT chooses the partition of a row before it waits for that partition's lock:
-- a row that was sent to the default partition, and waited there while the partition of its time was attached, failed with "new row for
-- relation violates partition constraint". Writers now wait for the parent, before they choose.
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
  EXECUTE format('LOCK TABLE ONLY public.%I IN SHARE ROW EXCLUSIVE MODE', parent);
  EXECUTE format('LOCK TABLE public.%I IN SHARE ROW EXCLUSIVE MODE', parent || '_default');
  EXECUTE format('CREATE TABLE public.%I (LIKE public.%I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING COMPRESSION)', name, parent);
  EXECUTE format('WITH moved AS (DELETE FROM public.%I WHERE created_at >= %L AND created_at < %L RETURNING *)
    INSERT INTO public.%I SELECT * FROM moved', parent || '_default', first, next, name);
  EXECUTE format('ALTER TABLE public.%I ATTACH PARTITION public.%I FOR VALUES FROM (%L) TO (%L)', parent, name, first, next);
END
$$;

CREATE OR REPLACE FUNCTION make_ledger_partitions(months_ahead integer) RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
  first timestamptz := date_trunc('month', now(), 'UTC');
  next timestamptz;
  name text;
  made integer := 0;
BEGIN
  IF months_ahead NOT BETWEEN 0 AND 12 THEN
    RAISE EXCEPTION 'months_ahead must be 0 to 12';
  END IF;
  IF NOT pg_try_advisory_xact_lock(hashtextextended('vitrine.ledger_partitions', 0)) THEN
    RETURN 0;
  END IF;
  FOR i IN 0..months_ahead LOOP
    next := (first AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC';
    name := 'ledger_' || to_char(first AT TIME ZONE 'UTC', 'YYYYMM');
    IF to_regclass('public.' || name) IS NULL THEN
      LOCK TABLE ONLY public.ledger IN SHARE ROW EXCLUSIVE MODE;
      LOCK TABLE public.ledger_default IN SHARE ROW EXCLUSIVE MODE;
      EXECUTE format('CREATE TABLE public.%I (LIKE public.ledger INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', name);
      EXECUTE format('WITH moved AS (DELETE FROM public.ledger_default WHERE created_at >= %L AND created_at < %L RETURNING *)
        INSERT INTO public.%I SELECT * FROM moved', first, next, name);
      EXECUTE format('ALTER TABLE public.ledger ATTACH PARTITION public.%I FOR VALUES FROM (%L) TO (%L)', name, first, next);
      made := made + 1;
    END IF;
    first := next;
  END LOOP;
  RETURN made;
END
$$;

RESET ROLE;
