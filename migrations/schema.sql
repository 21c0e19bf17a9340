-- What the migrations make, for reading: written by npm run golden, never run.

CREATE TABLE audit_events (
  number bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  at timestamp(3) with time zone NOT NULL,
  actor text COLLATE "C" NOT NULL,
  action text COLLATE "C" NOT NULL,
  target text NOT NULL,
  outcome text COLLATE "C" NOT NULL,
  reason text NOT NULL,
  correlation_id text NOT NULL,
  org_id text COLLATE "C" NOT NULL,
  workspace_id text COLLATE "C" NOT NULL,
  CONSTRAINT audit_events_pkey PRIMARY KEY (number)
);

CREATE TABLE background_responses (
  org_id text COLLATE "C" NOT NULL,
  workspace_id text COLLATE "C" NOT NULL,
  response bytea NOT NULL,
  gateway_key_id text COLLATE "C" NOT NULL,
  role text COLLATE "C" NOT NULL,
  model text COLLATE "C" NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  counted boolean NOT NULL DEFAULT false,
  CONSTRAINT background_responses_pkey PRIMARY KEY (org_id, workspace_id, response)
);

CREATE TABLE day_usage (
  day date NOT NULL,
  org_id text COLLATE "C" NOT NULL,
  workspace_id text COLLATE "C" NOT NULL,
  gateway_key_id text COLLATE "C" NOT NULL,
  requests bigint NOT NULL,
  total_tokens bigint NOT NULL,
  cost_usd numeric(38,12) NOT NULL,
  CONSTRAINT day_usage_pkey PRIMARY KEY (day, org_id, workspace_id, gateway_key_id)
) WITH (fillfactor=80);

CREATE TABLE gateway_key_store (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  is_only boolean NOT NULL DEFAULT true,
  CONSTRAINT gateway_key_store_is_only_check CHECK (is_only),
  CONSTRAINT gateway_key_store_pkey PRIMARY KEY (is_only)
);

CREATE TABLE gateway_keys (
  id text COLLATE "C" NOT NULL,
  org_id text COLLATE "C" NOT NULL,
  workspace_id text COLLATE "C" NOT NULL,
  name text,
  description text,
  created_by text,
  role text NOT NULL,
  permissions text[] NOT NULL,
  plan text,
  created_at timestamp(3) with time zone NOT NULL,
  last_used_at timestamp(3) with time zone,
  managed_by text,
  managed_resource text,
  pepper_version integer NOT NULL,
  token_mac bytea NOT NULL,
  revision bigint NOT NULL,
  changed_by text COLLATE "C" NOT NULL,
  revoked_at timestamp(3) with time zone,
  owner_uid text COLLATE "C",
  next_pepper_version integer,
  next_token_mac bytea,
  previous_pepper_version integer,
  previous_token_mac bytea,
  previous_until timestamp(3) with time zone,
  CONSTRAINT gateway_keys_pkey PRIMARY KEY (id),
  CONSTRAINT gateway_keys_revision_key UNIQUE (revision),
  CONSTRAINT gateway_keys_token_mac_key UNIQUE (token_mac)
);

CREATE TABLE operator_leadership (
  is_only boolean NOT NULL DEFAULT true,
  epoch bigint NOT NULL DEFAULT 0,
  holder text NOT NULL DEFAULT ''::text,
  taken_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT operator_leadership_is_only_check CHECK (is_only),
  CONSTRAINT operator_leadership_pkey PRIMARY KEY (is_only)
);

CREATE TABLE plan_generation (
  generation bigint NOT NULL DEFAULT 0,
  is_only boolean NOT NULL DEFAULT true,
  CONSTRAINT plan_generation_is_only_check CHECK (is_only),
  CONSTRAINT plan_generation_pkey PRIMARY KEY (is_only)
);

CREATE TABLE plans (
  name text COLLATE "C" NOT NULL,
  limits jsonb NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT plans_pkey PRIMARY KEY (name)
);

CREATE TABLE quota_reservations (
  day date NOT NULL,
  name text COLLATE "C" NOT NULL,
  unit text COLLATE "C" NOT NULL,
  process uuid NOT NULL,
  used numeric NOT NULL,
  allotted numeric NOT NULL,
  sequence bigint NOT NULL,
  reported_at timestamp with time zone NOT NULL,
  CONSTRAINT quota_reservations_pkey PRIMARY KEY (day, name, unit, process),
  CONSTRAINT quota_reservations_unit_check CHECK ((unit = ANY (ARRAY['tokens'::text, 'picoUsd'::text])))
) WITH (fillfactor=50);

CREATE TABLE rate_allotments (
  name text COLLATE "C" NOT NULL,
  process uuid NOT NULL,
  allotted integer NOT NULL,
  used integer NOT NULL,
  wanted integer NOT NULL,
  sequence bigint NOT NULL,
  reported_at timestamp with time zone NOT NULL,
  CONSTRAINT rate_allotments_pkey PRIMARY KEY (name, process)
) WITH (fillfactor=50);

CREATE TABLE schema_migrations (
  id integer NOT NULL DEFAULT nextval('schema_migrations_id_seq'::regclass),
  name character varying(255) NOT NULL,
  run_on timestamp without time zone NOT NULL,
  CONSTRAINT schema_migrations_pkey PRIMARY KEY (id)
);

CREATE TABLE token_hashes (
  token_mac bytea NOT NULL,
  pepper_version integer NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  CONSTRAINT token_hashes_pkey PRIMARY KEY (token_mac)
);

CREATE TABLE trace_bodies (
  id uuid NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  request_headers text NOT NULL,
  response_headers text NOT NULL,
  request_body text,
  response_body text,
  metadata text NOT NULL,
  CONSTRAINT trace_bodies_pkey PRIMARY KEY (id, created_at)
) PARTITION BY RANGE (created_at);

CREATE TABLE trace_hours (
  hour timestamp(3) with time zone NOT NULL,
  first_created_at timestamp(3) with time zone NOT NULL,
  last_created_at timestamp(3) with time zone NOT NULL,
  hour_is_summed boolean NOT NULL DEFAULT false,
  day_is_summed boolean NOT NULL DEFAULT false,
  CONSTRAINT trace_hours_pkey PRIMARY KEY (hour)
) WITH (fillfactor=50);

CREATE TABLE trace_retention (
  removed_before timestamp(3) with time zone NOT NULL,
  is_only boolean NOT NULL DEFAULT true,
  CONSTRAINT trace_retention_is_only_check CHECK (is_only),
  CONSTRAINT trace_retention_pkey PRIMARY KEY (is_only)
);

CREATE TABLE trace_sums_by_key_day (
  bucket_start timestamp(3) with time zone NOT NULL,
  org_id text COLLATE "C" NOT NULL,
  workspace_id text COLLATE "C" NOT NULL,
  gateway_key_id text COLLATE "C" NOT NULL,
  api_key_hash text COLLATE "C" NOT NULL,
  provider text COLLATE "C" NOT NULL,
  model text COLLATE "C" NOT NULL,
  requests bigint NOT NULL,
  errors_4xx bigint NOT NULL,
  errors_5xx bigint NOT NULL,
  streams bigint NOT NULL,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  total_tokens bigint NOT NULL,
  cost_usd numeric(38,12) NOT NULL,
  latency_ms bigint NOT NULL,
  latency_ms_min bigint NOT NULL,
  latency_ms_max bigint NOT NULL,
  first_token_us bigint NOT NULL,
  last_active_at timestamp(3) with time zone NOT NULL,
  latencies integer[] NOT NULL,
  CONSTRAINT trace_sums_by_key_day_pkey PRIMARY KEY (org_id, workspace_id, bucket_start, gateway_key_id, api_key_hash, provider, model)
) WITH (fillfactor=80, toast_tuple_target=8160);

CREATE TABLE trace_sums_by_key_hour (
  bucket_start timestamp(3) with time zone NOT NULL,
  org_id text COLLATE "C" NOT NULL,
  workspace_id text COLLATE "C" NOT NULL,
  gateway_key_id text COLLATE "C" NOT NULL,
  api_key_hash text COLLATE "C" NOT NULL,
  provider text COLLATE "C" NOT NULL,
  model text COLLATE "C" NOT NULL,
  requests bigint NOT NULL,
  errors_4xx bigint NOT NULL,
  errors_5xx bigint NOT NULL,
  streams bigint NOT NULL,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  total_tokens bigint NOT NULL,
  cost_usd numeric(38,12) NOT NULL,
  latency_ms bigint NOT NULL,
  latency_ms_min bigint NOT NULL,
  latency_ms_max bigint NOT NULL,
  first_token_us bigint NOT NULL,
  last_active_at timestamp(3) with time zone NOT NULL,
  latencies integer[] NOT NULL,
  CONSTRAINT trace_sums_by_key_hour_pkey PRIMARY KEY (org_id, workspace_id, bucket_start, gateway_key_id, api_key_hash, provider, model)
) WITH (fillfactor=80, toast_tuple_target=8160);

CREATE TABLE trace_sums_by_model_day (
  bucket_start timestamp(3) with time zone NOT NULL,
  org_id text COLLATE "C" NOT NULL,
  workspace_id text COLLATE "C" NOT NULL,
  provider text COLLATE "C" NOT NULL,
  model text COLLATE "C" NOT NULL,
  requests bigint NOT NULL,
  errors_4xx bigint NOT NULL,
  errors_5xx bigint NOT NULL,
  streams bigint NOT NULL,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  total_tokens bigint NOT NULL,
  cost_usd numeric(38,12) NOT NULL,
  latency_ms bigint NOT NULL,
  latency_ms_min bigint NOT NULL,
  latency_ms_max bigint NOT NULL,
  first_token_us bigint NOT NULL,
  last_active_at timestamp(3) with time zone NOT NULL,
  latencies integer[] NOT NULL,
  CONSTRAINT trace_sums_by_model_day_pkey PRIMARY KEY (org_id, workspace_id, bucket_start, provider, model)
) WITH (fillfactor=80, toast_tuple_target=8160);

CREATE TABLE trace_sums_by_model_hour (
  bucket_start timestamp(3) with time zone NOT NULL,
  org_id text COLLATE "C" NOT NULL,
  workspace_id text COLLATE "C" NOT NULL,
  provider text COLLATE "C" NOT NULL,
  model text COLLATE "C" NOT NULL,
  requests bigint NOT NULL,
  errors_4xx bigint NOT NULL,
  errors_5xx bigint NOT NULL,
  streams bigint NOT NULL,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  total_tokens bigint NOT NULL,
  cost_usd numeric(38,12) NOT NULL,
  latency_ms bigint NOT NULL,
  latency_ms_min bigint NOT NULL,
  latency_ms_max bigint NOT NULL,
  first_token_us bigint NOT NULL,
  last_active_at timestamp(3) with time zone NOT NULL,
  latencies integer[] NOT NULL,
  CONSTRAINT trace_sums_by_model_hour_pkey PRIMARY KEY (org_id, workspace_id, bucket_start, provider, model)
) WITH (fillfactor=80, toast_tuple_target=8160);

CREATE TABLE traces (
  id uuid NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  "timestamp" timestamp(3) with time zone NOT NULL,
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
  estimated_cost_usd numeric(38,12) NOT NULL,
  cost_status text COLLATE "C" NOT NULL,
  trace_group_id text COLLATE "C",
  group_fallback boolean,
  thread_id text COLLATE "C",
  run_id text COLLATE "C",
  parent_checkpoint_id text COLLATE "C",
  checkpoint_seq bigint,
  CONSTRAINT traces_pkey PRIMARY KEY (id, created_at)
) PARTITION BY RANGE (created_at);

CREATE TABLE workspace_plans (
  org_id text COLLATE "C" NOT NULL,
  workspace_id text COLLATE "C" NOT NULL,
  plan text COLLATE "C" NOT NULL,
  CONSTRAINT workspace_plans_pkey PRIMARY KEY (org_id, workspace_id),
  CONSTRAINT workspace_plans_plan_fkey FOREIGN KEY (plan) REFERENCES plans(name)
);

CREATE TABLE writer_statistics (
  writer text COLLATE "C" NOT NULL,
  started_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  traces_written bigint NOT NULL DEFAULT 0,
  traces_dropped bigint NOT NULL DEFAULT 0,
  dropped_by jsonb NOT NULL DEFAULT '{}'::jsonb,
  last_dropped_at timestamp(3) with time zone,
  last_dropped_by text COLLATE "C",
  CONSTRAINT writer_statistics_pkey PRIMARY KEY (writer)
);

CREATE TABLE trace_bodies_default PARTITION OF trace_bodies DEFAULT;
CREATE TABLE traces_default PARTITION OF traces DEFAULT;

CREATE INDEX audit_events_by_time ON public.audit_events USING btree (at, number);
CREATE INDEX audit_events_of_tenant ON public.audit_events USING btree (org_id, workspace_id, at, number);
CREATE INDEX background_responses_by_time ON public.background_responses USING btree (created_at);
CREATE INDEX gateway_keys_active ON public.gateway_keys USING btree (created_at, id) WHERE (revoked_at IS NULL);
CREATE INDEX gateway_keys_by_plan ON public.gateway_keys USING btree (plan) WHERE ((plan IS NOT NULL) AND (revoked_at IS NULL));
CREATE INDEX trace_sums_by_key_day_by_time ON public.trace_sums_by_key_day USING btree (bucket_start);
CREATE INDEX trace_sums_by_key_hour_by_time ON public.trace_sums_by_key_hour USING btree (bucket_start);
CREATE INDEX trace_sums_by_model_day_by_time ON public.trace_sums_by_model_day USING btree (bucket_start);
CREATE INDEX trace_sums_by_model_hour_by_time ON public.trace_sums_by_model_hour USING btree (bucket_start);
CREATE INDEX traces_of_credential ON ONLY public.traces USING btree (api_key_hash, id) WHERE (api_key_hash IS NOT NULL);
CREATE INDEX traces_of_group ON ONLY public.traces USING btree (trace_group_id, id) WHERE (trace_group_id IS NOT NULL);
CREATE INDEX traces_of_model ON ONLY public.traces USING btree (model, id);
CREATE INDEX traces_of_run ON ONLY public.traces USING btree (run_id, id) WHERE (run_id IS NOT NULL);
CREATE INDEX traces_of_status ON ONLY public.traces USING btree (response_status, id) WHERE (response_status <> 200);
CREATE INDEX traces_of_tenant ON ONLY public.traces USING btree (org_id, workspace_id, id);
CREATE INDEX traces_of_thread ON ONLY public.traces USING btree (thread_id, id) WHERE (thread_id IS NOT NULL);
CREATE INDEX traces_of_tokens ON ONLY public.traces USING btree (total_tokens);
CREATE INDEX workspace_plans_by_plan ON public.workspace_plans USING btree (plan);

CREATE OR REPLACE FUNCTION public.add_latencies(one integer[], other integer[])
 RETURNS integer[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  SELECT coalesce(array_agg(ARRAY[bucket, count] ORDER BY bucket), '{}')
  FROM (
    SELECT pairs[i][1] AS bucket, sum(pairs[i][2])::integer AS count
    FROM (SELECT one || other AS pairs) AS both_of_them, generate_subscripts(pairs, 1) AS i
    GROUP BY 1
  ) AS counted;
$function$
;

CREATE OR REPLACE FUNCTION public.drop_trace_partitions(created_before timestamp with time zone, max_days integer DEFAULT 8)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
 SET lock_timeout TO '2s'
AS $function$
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
$function$
;

CREATE OR REPLACE FUNCTION public.keep_next_token_hash()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
BEGIN
  INSERT INTO public.token_hashes VALUES (NEW.next_token_mac, NEW.next_pepper_version, NEW.id);
  RETURN NULL;
END
$function$
;

CREATE OR REPLACE FUNCTION public.keep_token_hash()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
BEGIN
  IF NOT EXISTS (SELECT FROM public.token_hashes WHERE token_mac = NEW.token_mac AND key_id = NEW.id) THEN
    INSERT INTO public.token_hashes VALUES (NEW.token_mac, NEW.pepper_version, NEW.id);
  END IF;
  RETURN NULL;
END
$function$
;

CREATE OR REPLACE FUNCTION public.lock_limits(names text[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
DECLARE
  bucket integer;
BEGIN
  FOR bucket IN SELECT DISTINCT hashtext(name) & 63 FROM unnest(names) AS name ORDER BY 1 LOOP
    PERFORM pg_advisory_xact_lock(hashtext('vitrine.limits'), bucket);
  END LOOP;
END
$function$
;

CREATE OR REPLACE FUNCTION public.make_trace_partition(parent text, day date)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
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
$function$
;

CREATE OR REPLACE FUNCTION public.make_trace_partitions(days_ahead integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
 SET lock_timeout TO '2s'
AS $function$
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
$function$
;

CREATE OR REPLACE FUNCTION public.notify_plan_generation()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
BEGIN
  PERFORM pg_notify('plans', ''); -- Equal notifications of a transaction are sent once.
  RETURN NULL;
END
$function$
;

CREATE OR REPLACE FUNCTION public.raise_plan_generation()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
BEGIN
  UPDATE public.plan_generation SET generation = generation + 1;
  RETURN NULL;
END
$function$
;

CREATE OR REPLACE FUNCTION public.remove_expired_allotments(older_than_ms integer, max_rows integer DEFAULT 10000)
 RETURNS bigint
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  WITH expired AS (
    SELECT name, process FROM public.rate_allotments
    WHERE reported_at < now() - make_interval(secs => older_than_ms / 1000.0) LIMIT max_rows FOR UPDATE SKIP LOCKED
  ), removed AS (
    DELETE FROM public.rate_allotments a USING expired e WHERE a.name = e.name AND a.process = e.process RETURNING 1
  )
  SELECT count(*) FROM removed;
$function$
;

CREATE OR REPLACE FUNCTION public.remove_old_quota_reservations(max_rows integer DEFAULT 10000)
 RETURNS bigint
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  WITH old AS (
    SELECT day, name, unit, process FROM public.quota_reservations
    WHERE day < ((now() - interval '1 hour') AT TIME ZONE 'UTC')::date LIMIT max_rows FOR UPDATE SKIP LOCKED
  ), removed AS (
    DELETE FROM public.quota_reservations q USING old o
    WHERE q.day = o.day AND q.name = o.name AND q.unit = o.unit AND q.process = o.process RETURNING 1
  )
  SELECT count(*) FROM removed;
$function$
;

CREATE OR REPLACE FUNCTION public.report_quota_usage(reporter uuid, report_sequence bigint, quota_day date, lease_ms integer, names text[], units text[], limits numeric[], useds numeric[], helds numeric[], wanteds numeric[])
 RETURNS TABLE(number bigint, allotted numeric, reported numeric, stored numeric, processes integer)
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
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
$function$
;

CREATE OR REPLACE FUNCTION public.report_rate_allotments(reporter uuid, report_sequence bigint, window_ms integer, lease_ms integer, names text[], limits integer[], helds integer[], useds integer[], mosts integer[], wanteds integer[])
 RETURNS TABLE(number bigint, allotted integer, demands integer[], place integer, unreported bigint)
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
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
$function$
;

CREATE OR REPLACE FUNCTION public.stored_quota_usage(usage_day date, name text, unit text)
 RETURNS numeric
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
$function$
;

CREATE OR REPLACE FUNCTION public.trace_partition_lock()
 RETURNS boolean
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  SELECT pg_try_advisory_xact_lock(hashtextextended('vitrine.trace_partitions', 0));
$function$
;

CREATE TRIGGER gateway_keys_created AFTER INSERT ON public.gateway_keys FOR EACH ROW EXECUTE FUNCTION keep_token_hash();
CREATE TRIGGER gateway_keys_rotated AFTER UPDATE OF token_mac ON public.gateway_keys FOR EACH ROW WHEN ((new.token_mac <> old.token_mac)) EXECUTE FUNCTION keep_token_hash();
CREATE TRIGGER gateway_keys_staged AFTER UPDATE OF next_token_mac ON public.gateway_keys FOR EACH ROW WHEN (((new.next_token_mac IS NOT NULL) AND (new.next_token_mac IS DISTINCT FROM old.next_token_mac))) EXECUTE FUNCTION keep_next_token_hash();
CREATE TRIGGER plan_generation_raised AFTER UPDATE ON public.plan_generation FOR EACH ROW EXECUTE FUNCTION notify_plan_generation();
CREATE TRIGGER plans_changed AFTER INSERT OR DELETE ON public.plans FOR EACH ROW EXECUTE FUNCTION raise_plan_generation();
CREATE TRIGGER plans_updated AFTER UPDATE ON public.plans FOR EACH ROW WHEN (((new.name <> old.name) OR (new.limits <> old.limits))) EXECUTE FUNCTION raise_plan_generation();
CREATE TRIGGER workspace_plans_changed AFTER INSERT OR DELETE ON public.workspace_plans FOR EACH ROW EXECUTE FUNCTION raise_plan_generation();
CREATE TRIGGER workspace_plans_updated AFTER UPDATE ON public.workspace_plans FOR EACH ROW WHEN ((new.* IS DISTINCT FROM old.*)) EXECUTE FUNCTION raise_plan_generation();

COMMENT ON COLUMN gateway_keys.changed_by IS 'the process that made the last change, which need not be notified of it';
COMMENT ON COLUMN gateway_keys.owner_uid IS 'of the GatewayKey resource: nothing else may change or revoke the row';
COMMENT ON COLUMN gateway_keys.revision IS 'of the last change; given under an advisory lock, so that revisions are committed in order';
COMMENT ON COLUMN plans.limits IS 'as the spec of a PlanLimits resource: the limits of the store API, included, and the thresholds of the gateway under gateway';
COMMENT ON COLUMN quota_reservations.name IS 'org, workspace and, for a key, its id; separated by line feeds';
COMMENT ON COLUMN quota_reservations.sequence IS 'of the report within its process: one that arrives after a later one changes nothing';
COMMENT ON COLUMN quota_reservations.unit IS 'tokens, or trillionths of a dollar';
COMMENT ON COLUMN quota_reservations.used IS 'by exchanges of the process whose usage is known';
COMMENT ON COLUMN rate_allotments.name IS 'org, workspace and, for a key, its id; separated by line feeds';
COMMENT ON COLUMN rate_allotments.sequence IS 'of the report within its process: one that arrives after a later one changes nothing';
COMMENT ON COLUMN rate_allotments.used IS 'requests in the window before the report; with wanted, for whoever looks';
COMMENT ON COLUMN trace_bodies.metadata IS 'JSON as text: nothing is queried by its keys, and text is written a quarter faster';
COMMENT ON COLUMN trace_bodies.request_headers IS 'redacted header lines';
COMMENT ON COLUMN trace_hours.day_is_summed IS 'the rows of all tenants in trace_sums_by_model_day have all of its traces';
COMMENT ON COLUMN trace_hours.hour_is_summed IS 'the rows of all tenants in trace_sums_by_model_hour have all of its traces';
COMMENT ON COLUMN trace_sums_by_key_hour.latencies IS 'pairs {bucket, count}; a bucket may be there several times';
COMMENT ON COLUMN trace_sums_by_model_day.org_id IS '* with workspace_id * : all tenants, complete where trace_hours says so; no id has this character';
COMMENT ON COLUMN trace_sums_by_model_hour.org_id IS '* with workspace_id * : all tenants, complete where trace_hours says so; no id has this character';
COMMENT ON COLUMN traces.api_key_hash IS 'SHA-256 of the provider credential, never of the gateway key';
COMMENT ON COLUMN traces.group_fallback IS 'the group is the trace id of a traceparent: a label, not what the client named';
COMMENT ON COLUMN writer_statistics.dropped_by IS 'counts by operation and error_class, such as {"write_trace timeout": 3}';
COMMENT ON COLUMN writer_statistics.last_dropped_by IS 'operation and error_class of the last dropped trace, such as write_trace timeout';

ALTER TABLE audit_events OWNER TO vitrine_migrations;
ALTER TABLE background_responses OWNER TO vitrine_migrations;
ALTER TABLE day_usage OWNER TO vitrine_migrations;
ALTER TABLE gateway_key_store OWNER TO vitrine_migrations;
ALTER TABLE gateway_keys OWNER TO vitrine_migrations;
ALTER TABLE operator_leadership OWNER TO vitrine_migrations;
ALTER TABLE plan_generation OWNER TO vitrine_migrations;
ALTER TABLE plans OWNER TO vitrine_migrations;
ALTER TABLE quota_reservations OWNER TO vitrine_migrations;
ALTER TABLE rate_allotments OWNER TO vitrine_migrations;
ALTER TABLE schema_migrations OWNER TO vitrine_migrations;
ALTER TABLE token_hashes OWNER TO vitrine_migrations;
ALTER TABLE trace_bodies OWNER TO vitrine_migrations;
ALTER TABLE trace_bodies_default OWNER TO vitrine_migrations;
ALTER TABLE trace_hours OWNER TO vitrine_migrations;
ALTER TABLE trace_retention OWNER TO vitrine_migrations;
ALTER TABLE trace_sums_by_key_day OWNER TO vitrine_migrations;
ALTER TABLE trace_sums_by_key_hour OWNER TO vitrine_migrations;
ALTER TABLE trace_sums_by_model_day OWNER TO vitrine_migrations;
ALTER TABLE trace_sums_by_model_hour OWNER TO vitrine_migrations;
ALTER TABLE traces OWNER TO vitrine_migrations;
ALTER TABLE traces_default OWNER TO vitrine_migrations;
ALTER TABLE workspace_plans OWNER TO vitrine_migrations;
ALTER TABLE writer_statistics OWNER TO vitrine_migrations;

GRANT DELETE, INSERT, SELECT ON audit_events TO vitrine_gateway;
GRANT INSERT, SELECT ON audit_events TO vitrine_operator;
GRANT DELETE, INSERT, SELECT, UPDATE ON background_responses TO vitrine_gateway;
GRANT DELETE, INSERT, SELECT, UPDATE ON background_responses TO vitrine_trace_writer;
GRANT DELETE, INSERT, SELECT, UPDATE ON day_usage TO vitrine_gateway;
GRANT DELETE, INSERT, SELECT, UPDATE ON day_usage TO vitrine_trace_writer;
GRANT SELECT ON gateway_key_store TO vitrine_gateway;
GRANT SELECT ON gateway_key_store TO vitrine_operator;
GRANT INSERT, SELECT, UPDATE ON gateway_keys TO vitrine_gateway;
GRANT INSERT, SELECT, UPDATE ON gateway_keys TO vitrine_operator;
GRANT SELECT, UPDATE ON operator_leadership TO vitrine_operator;
GRANT SELECT ON plan_generation TO vitrine_gateway;
GRANT SELECT, UPDATE ON plan_generation TO vitrine_operator;
GRANT SELECT ON plans TO vitrine_gateway;
GRANT DELETE, INSERT, SELECT, UPDATE ON plans TO vitrine_operator;
GRANT DELETE, INSERT, SELECT, UPDATE ON quota_reservations TO vitrine_gateway;
GRANT DELETE, INSERT, SELECT, UPDATE ON rate_allotments TO vitrine_gateway;
GRANT SELECT ON schema_migrations TO vitrine_gateway;
GRANT SELECT ON schema_migrations TO vitrine_trace_writer;
GRANT SELECT ON schema_migrations TO vitrine_operator;
GRANT INSERT, SELECT ON token_hashes TO vitrine_gateway;
GRANT INSERT, SELECT ON token_hashes TO vitrine_operator;
GRANT INSERT, SELECT ON trace_bodies TO vitrine_gateway;
GRANT INSERT, SELECT ON trace_bodies TO vitrine_trace_writer;
GRANT DELETE, INSERT, SELECT, UPDATE ON trace_hours TO vitrine_gateway;
GRANT DELETE, INSERT, SELECT, UPDATE ON trace_hours TO vitrine_trace_writer;
GRANT SELECT, UPDATE ON trace_retention TO vitrine_gateway;
GRANT SELECT, UPDATE ON trace_retention TO vitrine_trace_writer;
GRANT DELETE, INSERT, SELECT, UPDATE ON trace_sums_by_key_day TO vitrine_gateway;
GRANT DELETE, INSERT, SELECT, UPDATE ON trace_sums_by_key_day TO vitrine_trace_writer;
GRANT DELETE, INSERT, SELECT, UPDATE ON trace_sums_by_key_hour TO vitrine_gateway;
GRANT DELETE, INSERT, SELECT, UPDATE ON trace_sums_by_key_hour TO vitrine_trace_writer;
GRANT DELETE, INSERT, SELECT, UPDATE ON trace_sums_by_model_day TO vitrine_gateway;
GRANT DELETE, INSERT, SELECT, UPDATE ON trace_sums_by_model_day TO vitrine_trace_writer;
GRANT DELETE, INSERT, SELECT, UPDATE ON trace_sums_by_model_hour TO vitrine_gateway;
GRANT DELETE, INSERT, SELECT, UPDATE ON trace_sums_by_model_hour TO vitrine_trace_writer;
GRANT INSERT, SELECT ON traces TO vitrine_gateway;
GRANT INSERT, SELECT ON traces TO vitrine_trace_writer;
GRANT SELECT ON workspace_plans TO vitrine_gateway;
GRANT DELETE, INSERT, SELECT, UPDATE ON workspace_plans TO vitrine_operator;
GRANT DELETE, INSERT, SELECT, UPDATE ON writer_statistics TO vitrine_gateway;
GRANT DELETE, INSERT, SELECT, UPDATE ON writer_statistics TO vitrine_trace_writer;

GRANT EXECUTE ON FUNCTION add_latencies(integer[],integer[]) TO PUBLIC;
GRANT EXECUTE ON FUNCTION drop_trace_partitions(timestamp with time zone,integer) TO vitrine_gateway;
GRANT EXECUTE ON FUNCTION drop_trace_partitions(timestamp with time zone,integer) TO vitrine_trace_writer;
GRANT EXECUTE ON FUNCTION keep_next_token_hash() TO PUBLIC;
GRANT EXECUTE ON FUNCTION keep_token_hash() TO PUBLIC;
GRANT EXECUTE ON FUNCTION lock_limits(text[]) TO vitrine_gateway;
GRANT EXECUTE ON FUNCTION make_trace_partitions(integer) TO vitrine_gateway;
GRANT EXECUTE ON FUNCTION make_trace_partitions(integer) TO vitrine_trace_writer;
GRANT EXECUTE ON FUNCTION notify_plan_generation() TO PUBLIC;
GRANT EXECUTE ON FUNCTION raise_plan_generation() TO PUBLIC;
GRANT EXECUTE ON FUNCTION remove_expired_allotments(integer,integer) TO vitrine_gateway;
GRANT EXECUTE ON FUNCTION remove_old_quota_reservations(integer) TO vitrine_gateway;
GRANT EXECUTE ON FUNCTION report_quota_usage(uuid,bigint,date,integer,text[],text[],numeric[],numeric[],numeric[],numeric[]) TO vitrine_gateway;
GRANT EXECUTE ON FUNCTION report_rate_allotments(uuid,bigint,integer,integer,text[],integer[],integer[],integer[],integer[],integer[]) TO vitrine_gateway;
GRANT EXECUTE ON FUNCTION stored_quota_usage(date,text,text) TO vitrine_gateway;
