SET ROLE vitrine_migrations;

-- Columns are the specification's fields. `id` is a UUIDv7 with `created_at` as its time: the order of ids is that of (created_at, id), and an id
-- determines its partition. Text compares by bytes, as programs compare it.
CREATE TABLE traces (
  id uuid NOT NULL,
  created_at timestamptz(3) NOT NULL,
  "timestamp" timestamptz(3) NOT NULL,
  org_id text COLLATE "C" NOT NULL,
  workspace_id text COLLATE "C" NOT NULL,
  gateway_key_id text COLLATE "C" NOT NULL,
  role text COLLATE "C" NOT NULL,
  provider text COLLATE "C" NOT NULL,
  model text COLLATE "C" NOT NULL,
  request_method text COLLATE "C" NOT NULL,
  request_path text COLLATE "C" NOT NULL,
  response_status smallint NOT NULL,
  outcome text COLLATE "C" NOT NULL,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  total_tokens bigint NOT NULL,
  usage_status text COLLATE "C" NOT NULL,
  latency_ms bigint NOT NULL,
  time_to_first_token_us bigint NOT NULL,
  api_key_hash bytea,
  estimated_cost_usd numeric(38, 12) NOT NULL,
  cost_status text COLLATE "C" NOT NULL,
  trace_group_id text COLLATE "C",
  group_fallback boolean,
  thread_id text COLLATE "C",
  run_id text COLLATE "C",
  parent_checkpoint_id text COLLATE "C",
  checkpoint_seq bigint,
  PRIMARY KEY (id, created_at)
) PARTITION BY RANGE (created_at);
COMMENT ON TABLE traces IS 'one row per exchange, in partitions of a day; headers, bodies and metadata are in trace_bodies, so that lists read narrow rows';
COMMENT ON COLUMN traces.api_key_hash IS 'SHA-256 of the provider credential, never of the gateway key';
COMMENT ON COLUMN traces.group_fallback IS 'the group is the trace id of a traceparent: a label, not what the client named';

-- Lists are ordered by id, newest first, of one tenant or of all; the primary key serves the latter. Lineage and failures are rare, and their
-- indexes partial: an ordinary row costs them nothing.
CREATE INDEX traces_of_tenant ON traces (org_id, workspace_id, id);
CREATE INDEX traces_of_model ON traces (model, id);
CREATE INDEX traces_of_credential ON traces (api_key_hash, id) WHERE api_key_hash IS NOT NULL;
CREATE INDEX traces_of_group ON traces (trace_group_id, id) WHERE trace_group_id IS NOT NULL;
CREATE INDEX traces_of_thread ON traces (thread_id, id) WHERE thread_id IS NOT NULL;
CREATE INDEX traces_of_run ON traces (run_id, id) WHERE run_id IS NOT NULL;
CREATE INDEX traces_of_status ON traces (response_status, id) WHERE response_status <> 200;
CREATE INDEX traces_of_tokens ON traces (total_tokens);

CREATE TABLE trace_bodies (
  id uuid NOT NULL,
  created_at timestamptz(3) NOT NULL,
  request_headers text NOT NULL,
  response_headers text NOT NULL,
  request_body text,
  response_body text,
  metadata text NOT NULL,
  PRIMARY KEY (id, created_at)
) PARTITION BY RANGE (created_at);
COMMENT ON TABLE trace_bodies IS 'what only the page of one trace shows; partitions and ids as in traces';
COMMENT ON COLUMN trace_bodies.request_headers IS 'redacted header lines';
COMMENT ON COLUMN trace_bodies.metadata IS 'JSON as text: nothing is queried by its keys, and text is written a quarter faster';

CREATE TABLE traces_default PARTITION OF traces DEFAULT;
CREATE TABLE trace_bodies_default PARTITION OF trace_bodies DEFAULT;
COMMENT ON TABLE traces_default IS 'rows of days without a partition: a clock was wrong, or a spool was drained late';
COMMENT ON TABLE trace_bodies_default IS 'rows of days without a partition: a clock was wrong, or a spool was drained late';

-- lz4 halves the time of compressing bodies; not every server is built with it. Partitions inherit the choice.
DO $$
BEGIN
  IF 'lz4' = ANY ((SELECT enumvals FROM pg_settings WHERE name = 'default_toast_compression')::text[]) THEN
    ALTER TABLE trace_bodies ALTER request_headers SET COMPRESSION lz4, ALTER response_headers SET COMPRESSION lz4,
      ALTER request_body SET COMPRESSION lz4, ALTER response_body SET COMPRESSION lz4, ALTER metadata SET COMPRESSION lz4;
    ALTER TABLE trace_bodies_default ALTER request_headers SET COMPRESSION lz4, ALTER response_headers SET COMPRESSION lz4,
      ALTER request_body SET COMPRESSION lz4, ALTER response_body SET COMPRESSION lz4, ALTER metadata SET COMPRESSION lz4;
  END IF;
END
$$;

-- An exchange may take hours, and a clock may be set meanwhile, so that neither time follows from the other.
CREATE TABLE trace_hours (
  hour timestamptz(3) NOT NULL PRIMARY KEY,
  first_created_at timestamptz(3) NOT NULL,
  last_created_at timestamptz(3) NOT NULL
) WITH (fillfactor = 50);
COMMENT ON TABLE trace_hours IS
  'between which created_at the traces of an hour of timestamp were made, so that lists and measures by time read these partitions only';

CREATE TABLE trace_retention (
  removed_before timestamptz(3) NOT NULL,
  is_only boolean NOT NULL DEFAULT true PRIMARY KEY CHECK (is_only)
);
INSERT INTO trace_retention VALUES ('epoch');
COMMENT ON TABLE trace_retention IS 'one row: traces made before removed_before are gone, and remain only in the sums';

-- Partitions are days in UTC, called traces_20260105. Only the owner of a table may create and drop them, so services call these functions,
-- which any replica may do: an advisory lock lets one work, and the others return at once.

CREATE FUNCTION trace_partition_lock() RETURNS boolean
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
  SELECT pg_try_advisory_xact_lock(hashtextextended('vitrine.trace_partitions', 0));
$$;

-- Makes one partition and moves rows that wait for it in the default partition into it. Writers wait meanwhile: a batch committed during the
-- move would stay in the default partition. The parent is locked first, because an INSERT chooses the partition of a row before it waits for
-- that partition's lock.
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
  EXECUTE format('LOCK TABLE ONLY public.%I IN SHARE ROW EXCLUSIVE MODE', parent);
  EXECUTE format('LOCK TABLE public.%I IN SHARE ROW EXCLUSIVE MODE', parent || '_default');
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
-- partition. Returns what it removed. Dropping a day takes milliseconds, whatever its size.
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

REVOKE EXECUTE ON FUNCTION trace_partition_lock(), make_trace_partition(text, date), make_trace_partitions(integer),
  remove_old_traces(timestamptz, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION make_trace_partitions(integer), remove_old_traces(timestamptz, integer) TO vitrine_gateway, vitrine_trace_writer;
GRANT SELECT, INSERT ON traces, trace_bodies TO vitrine_gateway, vitrine_trace_writer;
GRANT SELECT, INSERT, UPDATE, DELETE ON trace_hours TO vitrine_gateway, vitrine_trace_writer;
GRANT SELECT, UPDATE ON trace_retention TO vitrine_gateway, vitrine_trace_writer;

RESET ROLE;
