-- Roles of the store API and of the scanner, as in 0001.
DO $$
DECLARE
  role_name text;
BEGIN
  FOREACH role_name IN ARRAY ARRAY['vitrine_store_api', 'vitrine_enrich'] LOOP
    BEGIN
      IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role_name) THEN
        EXECUTE format('CREATE ROLE %I NOLOGIN', role_name);
      END IF;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN
      NULL; -- A migration of another database was faster.
    END;
  END LOOP;
END
$$;
GRANT USAGE ON SCHEMA public TO vitrine_store_api, vitrine_enrich;

SET ROLE vitrine_migrations;

-- Store intelligence. Columns are the specification's fields; ids sort by their time of creation.

CREATE TABLE technologies (
  slug text COLLATE "C" NOT NULL PRIMARY KEY,
  name text NOT NULL,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('platform', 'app', 'service', 'theme')),
  category text COLLATE "C" NOT NULL,
  vendor text,
  website text
);

CREATE TABLE stores (
  storefront_id text COLLATE "C" NOT NULL PRIMARY KEY,
  domain text COLLATE "C" NOT NULL UNIQUE,
  storefront_host text COLLATE "C" NOT NULL,
  brand_group_id text COLLATE "C",
  name text,
  rank integer,
  platform text COLLATE "C" REFERENCES technologies,
  platform_confidence text COLLATE "C",
  platform_first_observed_at timestamptz(3),
  platform_last_confirmed_at timestamptz(3),
  state text COLLATE "C" NOT NULL CHECK (state IN ('candidate', 'reachable', 'verified_ecommerce', 'active_storefront', 'inactive')),
  state_as_of timestamptz(3) NOT NULL,
  is_ecommerce boolean NOT NULL,
  country text COLLATE "C",
  country_basis text COLLATE "C",
  industry text COLLATE "C",
  industry_basis text COLLATE "C",
  product_count integer,
  available_count integer,
  currency text COLLATE "C",
  price_p25 numeric,
  price_median numeric,
  price_p75 numeric,
  catalog_as_of timestamptz(3),
  catalog_coverage text COLLATE "C",
  first_observed_at timestamptz(3),
  last_completed_scan_at timestamptz(3),
  scope text COLLATE "C",
  coverage_note text,
  last_observation_id text COLLATE "C",
  profile text,
  profile_hash text COLLATE "C"
);
COMMENT ON COLUMN stores.rank IS 'from an imported list of domains';
COMMENT ON COLUMN stores.is_ecommerce IS 'a completed observation showed commerce; without it, and with one, the domain is not_ecommerce';
COMMENT ON COLUMN stores.profile IS 'the Store resource as responses carry it; NULL while there is none to return';
COMMENT ON COLUMN stores.profile_hash IS 'of the text of profile, for ETags';
DO $$
BEGIN
  IF 'lz4' = ANY ((SELECT enumvals FROM pg_settings WHERE name = 'default_toast_compression')::text[]) THEN
    ALTER TABLE stores ALTER profile SET COMPRESSION lz4;
  END IF;
END
$$;

CREATE TABLE store_technologies (
  storefront_id text COLLATE "C" NOT NULL REFERENCES stores,
  slug text COLLATE "C" NOT NULL REFERENCES technologies,
  install_state text COLLATE "C" NOT NULL CHECK (install_state IN ('active', 'configured', 'inactive')),
  confidence text COLLATE "C" NOT NULL CHECK (confidence IN ('high', 'medium', 'low')),
  first_observed_at timestamptz(3) NOT NULL,
  last_confirmed_at timestamptz(3) NOT NULL,
  PRIMARY KEY (storefront_id, slug)
);

CREATE TABLE scan_jobs (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  domain text COLLATE "C" NOT NULL,
  cause text COLLATE "C" NOT NULL CHECK (cause IN ('requested', 'routine')),
  status text COLLATE "C" NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'completed', 'blocked', 'failed')),
  error text,
  queued_at timestamptz(3) NOT NULL,
  started_at timestamptz(3),
  finished_at timestamptz(3)
);
-- Of a domain at most one job is open, whoever queues it.
CREATE UNIQUE INDEX scan_jobs_open ON scan_jobs (domain) WHERE status IN ('queued', 'running');
CREATE INDEX scan_jobs_finished ON scan_jobs (finished_at) WHERE finished_at IS NOT NULL;

CREATE TABLE observations (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  storefront_id text COLLATE "C" NOT NULL REFERENCES stores,
  scan_job_id text COLLATE "C",
  started_at timestamptz(3) NOT NULL,
  completed_at timestamptz(3) NOT NULL,
  scope text COLLATE "C" NOT NULL CHECK (scope IN ('full', 'partial', 'homepage_only')),
  registry_checksum text COLLATE "C" NOT NULL,
  facts jsonb NOT NULL,
  evidence jsonb
);
CREATE INDEX observations_of_store ON observations (storefront_id, started_at);
CREATE INDEX observations_with_evidence ON observations (completed_at) WHERE evidence IS NOT NULL;
COMMENT ON COLUMN observations.scan_job_id IS 'no foreign key: finished jobs are removed after days';
COMMENT ON COLUMN observations.facts IS 'what the scan found, for replays of the log';
COMMENT ON COLUMN observations.evidence IS 'what rules were applied to, for replays under new rules; removed after 180 days';

CREATE TABLE signals (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  storefront_id text COLLATE "C" NOT NULL REFERENCES stores,
  observation_id text COLLATE "C" NOT NULL REFERENCES observations,
  type text COLLATE "C" NOT NULL,
  technology text COLLATE "C" REFERENCES technologies,
  "from" text COLLATE "C" REFERENCES technologies,
  "to" text COLLATE "C" REFERENCES technologies,
  effective_at timestamptz(3) NOT NULL,
  confirmed_at timestamptz(3) NOT NULL,
  confidence text COLLATE "C" NOT NULL CHECK (confidence IN ('high', 'medium', 'low'))
);
CREATE INDEX signals_of_store ON signals (storefront_id, confirmed_at DESC, id);
COMMENT ON COLUMN signals.observation_id IS 'the one that confirmed it';

CREATE TABLE domain_denylist (
  domain text COLLATE "C" NOT NULL PRIMARY KEY,
  reason text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now()
);

-- Relationships between stores and technologies that a capture claims, and what became of the claims.
CREATE TABLE evidence (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  source_url text NOT NULL,
  captured_at timestamptz(3) NOT NULL,
  received_at timestamptz(3) NOT NULL,
  document jsonb NOT NULL
);
CREATE INDEX evidence_by_time ON evidence (received_at);
CREATE TABLE evidence_receipts (
  idempotency_key text COLLATE "C" NOT NULL PRIMARY KEY,
  fingerprint bytea NOT NULL,
  receipt text NOT NULL,
  created_at timestamptz(3) NOT NULL
);
COMMENT ON COLUMN evidence_receipts.receipt IS 'JSON as it was returned, for retries';
CREATE TABLE candidates (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  evidence_id text COLLATE "C" REFERENCES evidence ON DELETE SET NULL,
  domain text COLLATE "C",
  technology_slug text COLLATE "C" REFERENCES technologies,
  claim text NOT NULL,
  source_url text NOT NULL,
  captured_at timestamptz(3) NOT NULL,
  status text COLLATE "C" NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'resolved', 'rejected'))
);
CREATE INDEX candidates_by_status ON candidates (status, id);
CREATE INDEX candidates_of_evidence ON candidates (evidence_id);
CREATE TABLE analyses (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  domain text COLLATE "C" NOT NULL,
  scan_job_id text COLLATE "C",
  status text COLLATE "C" NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'completed', 'blocked', 'failed')),
  result jsonb,
  error text,
  created_at timestamptz(3) NOT NULL
);
CREATE INDEX analyses_of_job ON analyses (scan_job_id);

-- Messages of committed transactions, until a relay has published them.
CREATE TABLE outbox (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  topic text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  payload text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  published_at timestamptz(3)
);
CREATE INDEX outbox_unpublished ON outbox (id) WHERE published_at IS NULL;
CREATE INDEX outbox_published ON outbox (published_at) WHERE published_at IS NOT NULL;
COMMENT ON COLUMN outbox.payload IS 'JSON';

CREATE TABLE workspaces (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  name text NOT NULL,
  plan text COLLATE "C" NOT NULL CHECK (plan IN ('free', 'pro', 'growth', 'partner')),
  anchor_day smallint NOT NULL CHECK (anchor_day BETWEEN 1 AND 31),
  gateway_org_id text COLLATE "C" NOT NULL,
  gateway_workspace_id text COLLATE "C" NOT NULL,
  created_at timestamptz(3) NOT NULL
);
COMMENT ON COLUMN workspaces.plan IS 'of plans; without a row there, the limits that the store API has for it';
COMMENT ON COLUMN workspaces.anchor_day IS 'day of the month on which billing periods start, in UTC';
COMMENT ON COLUMN workspaces.gateway_org_id IS 'its tenant at the AI traffic gateway, with gateway_workspace_id';

CREATE TABLE members (
  workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces,
  email text COLLATE "C" NOT NULL,
  issuer text COLLATE "C",
  subject text COLLATE "C",
  role text COLLATE "C" NOT NULL CHECK (role IN ('admin', 'member')),
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (workspace_id, email),
  UNIQUE (workspace_id, issuer, subject)
);
COMMENT ON COLUMN members.subject IS 'of the issuer; NULL until the first sign-in';

CREATE TABLE api_keys (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces,
  label text NOT NULL,
  prefix text COLLATE "C" NOT NULL,
  environment text COLLATE "C" NOT NULL CHECK (environment IN ('live', 'test')),
  scopes text[] NOT NULL,
  pepper_version integer NOT NULL,
  token_mac bytea NOT NULL UNIQUE,
  created_by text,
  created_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3),
  revoked_at timestamptz(3)
);
CREATE INDEX api_keys_of_workspace ON api_keys (workspace_id);
COMMENT ON COLUMN api_keys.prefix IS 'tag and first four characters of the secret';
COMMENT ON COLUMN api_keys.token_mac IS 'HMAC-SHA-256 of the token under the pepper of pepper_version';

-- Every billed unit is a row, which nobody may change; a partition for each month in UTC, called ledger_202601. `created_at` is the time
-- inside `operation_id`, so that the primary key finds an operation that is billed twice.
CREATE TABLE ledger (
  workspace_id text COLLATE "C" NOT NULL,
  operation_id text COLLATE "C" NOT NULL,
  domain text COLLATE "C" NOT NULL,
  unit text COLLATE "C" NOT NULL CHECK (unit IN ('lookup_cached', 'lookup_live', 'history_query', 'refresh_requested')),
  created_at timestamptz(3) NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  period_starts_at timestamptz(3) NOT NULL,
  PRIMARY KEY (workspace_id, operation_id, domain, unit, created_at)
) PARTITION BY RANGE (created_at);
CREATE TABLE ledger_default PARTITION OF ledger DEFAULT;
COMMENT ON COLUMN ledger.operation_id IS 'made by the server for each request that is billed';
COMMENT ON COLUMN ledger.period_starts_at IS 'the billing period that paid';

-- Makes the partitions of this month and of `months_ahead` months from now on, and moves rows of the default partition into them. Returns the
-- number of months that had none; any replica may call it.
CREATE FUNCTION make_ledger_partitions(months_ahead integer) RETURNS integer
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
      -- As for partitions of traces: rows that are being written are moved too.
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

-- What a workspace has consumed in a billing period, moved in the transactions that write the ledger.
CREATE TABLE usage_counters (
  workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces,
  starts_at timestamptz(3) NOT NULL,
  lookup_cached bigint NOT NULL DEFAULT 0,
  lookup_live bigint NOT NULL DEFAULT 0,
  history_query bigint NOT NULL DEFAULT 0,
  refresh_requested bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (workspace_id, starts_at)
) WITH (fillfactor = 50);
CREATE TABLE usage_by_key (
  workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces,
  starts_at timestamptz(3) NOT NULL,
  key_id text COLLATE "C" NOT NULL REFERENCES api_keys,
  lookup_cached bigint NOT NULL DEFAULT 0,
  lookup_live bigint NOT NULL DEFAULT 0,
  history_query bigint NOT NULL DEFAULT 0,
  refresh_requested bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (workspace_id, starts_at, key_id)
) WITH (fillfactor = 50);

CREATE TABLE idempotency_keys (
  workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces,
  idempotency_key text COLLATE "C" NOT NULL,
  fingerprint bytea NOT NULL,
  request_id text COLLATE "C" NOT NULL,
  status smallint,
  etag text COLLATE "C",
  body text,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (workspace_id, idempotency_key)
);
CREATE INDEX idempotency_keys_by_time ON idempotency_keys (created_at);
COMMENT ON COLUMN idempotency_keys.fingerprint IS 'SHA-256 of operation, canonical path and canonical body';
COMMENT ON COLUMN idempotency_keys.body IS 'the response as it was sent; with request_id, status and etag it is the whole replay';

-- Requests of the current minute and requests in flight of each key. Unlogged: after a crash of the server they begin anew, and admission,
-- which writes only here, does not wait for the disk.
CREATE UNLOGGED TABLE rate_windows (
  key_id text COLLATE "C" NOT NULL PRIMARY KEY,
  starts_at timestamptz(3) NOT NULL,
  requests integer NOT NULL
) WITH (fillfactor = 50);
CREATE UNLOGGED TABLE request_leases (
  key_id text COLLATE "C" NOT NULL,
  slot integer NOT NULL,
  lease_id uuid NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  PRIMARY KEY (key_id, slot)
) WITH (fillfactor = 50);
COMMENT ON COLUMN request_leases.slot IS 'from 0; rows stay and are used again, because rows that come and go leave dead ones for every count to pass';
COMMENT ON COLUMN request_leases.expires_at IS 'the slot is free from then on: at once when its request ends, after the lease when its process has died';

-- The start of the billing period of a moment: the anchor day of a month, or its last day where it has fewer.
CREATE FUNCTION billing_period_start(anchor_day integer, at timestamptz) RETURNS timestamptz
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  month timestamp := date_trunc('month', at AT TIME ZONE 'UTC');
BEGIN
  IF least(month + make_interval(days => anchor_day - 1), month + interval '1 month - 1 day') > at AT TIME ZONE 'UTC' THEN
    month := month - interval '1 month';
  END IF;
  RETURN least(month + make_interval(days => anchor_day - 1), month + interval '1 month - 1 day') AT TIME ZONE 'UTC';
END
$$;

-- Authenticates a request and admits it, in one round trip: the key by the hashes of its token, revocation, expiry, requests of the current
-- minute, scope, requests in flight. An admitted request holds a slot by `lease_id` until it is freed or `lease_ms` are over. All requests with a
-- valid key that a minute has room for count, except those rejected for concurrency, which are to be sent again. Requests of a key take turns
-- on its row of `rate_windows`, over all replicas. `default_limits`: by plan, for plans without a row.
CREATE FUNCTION admit_request(token_macs bytea[], required_scope text, lease_id uuid, default_limits jsonb, window_ms integer, lease_ms integer)
RETURNS TABLE (outcome text, key_id text, label text, prefix text, environment text, scopes text[], expires_at timestamptz, workspace_id text,
  workspace_name text, plan text, limits jsonb, requests_left integer, window_ends_in_ms integer, period_starts_at timestamptz,
  period_ends_at timestamptz, lookup_cached bigint, lookup_live bigint, history_query bigint, refresh_requested bigint)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
DECLARE
  anchor integer;
  revoked timestamptz;
  window_starts_at timestamptz;
  counted integer;
  in_flight integer;
  free_slot integer;
  slots integer;
  at timestamptz;
BEGIN
  SELECT k.id, k.label, k.prefix, k.environment, k.scopes, k.expires_at, k.revoked_at, w.id, w.name, w.plan, w.anchor_day,
    coalesce(p.limits, default_limits -> w.plan)
  INTO key_id, label, prefix, environment, scopes, expires_at, revoked, workspace_id, workspace_name, plan, anchor, limits
  FROM public.api_keys k JOIN public.workspaces w ON w.id = k.workspace_id LEFT JOIN public.plans p ON p.name = w.plan
  WHERE k.token_mac = ANY (token_macs);
  outcome := CASE WHEN NOT FOUND THEN 'unknown_key' WHEN revoked IS NOT NULL THEN 'revoked_key'
    WHEN expires_at <= clock_timestamp() THEN 'expired_key' END;
  IF outcome IS NOT NULL THEN
    RETURN NEXT;
    RETURN;
  END IF;

  LOOP
    SELECT r.starts_at, r.requests INTO window_starts_at, counted FROM public.rate_windows r
    WHERE r.key_id = admit_request.key_id FOR UPDATE;
    EXIT WHEN FOUND;
    INSERT INTO public.rate_windows VALUES (key_id, '-infinity', 0) ON CONFLICT DO NOTHING;
  END LOOP;
  at := date_trunc('milliseconds', clock_timestamp()); -- After the wait for the row.
  IF at >= window_starts_at + make_interval(secs => window_ms / 1000.0) THEN
    window_starts_at := at;
    counted := 0;
  END IF;
  outcome := CASE WHEN counted >= (limits ->> 'rpm')::integer THEN 'rate_limited'
    WHEN NOT required_scope = ANY (scopes) THEN 'forbidden_scope' ELSE 'admitted' END;
  IF outcome = 'admitted' THEN
    SELECT count(*) FILTER (WHERE l.expires_at > at), min(l.slot) FILTER (WHERE l.expires_at <= at), count(*)
    INTO in_flight, free_slot, slots FROM public.request_leases l WHERE l.key_id = admit_request.key_id;
    IF in_flight >= (limits ->> 'concurrency')::integer THEN
      outcome := 'concurrency_limited';
    ELSE
      INSERT INTO public.request_leases AS l
      VALUES (key_id, coalesce(free_slot, slots), lease_id, at + make_interval(secs => lease_ms / 1000.0))
      ON CONFLICT (key_id, slot) DO UPDATE SET lease_id = excluded.lease_id, expires_at = excluded.expires_at;
    END IF;
  END IF;
  IF outcome IN ('admitted', 'forbidden_scope') THEN
    counted := counted + 1;
  END IF;
  UPDATE public.rate_windows r SET starts_at = window_starts_at, requests = counted WHERE r.key_id = admit_request.key_id;

  requests_left := greatest(0, (limits ->> 'rpm')::integer - counted);
  window_ends_in_ms := ceil(extract(epoch FROM window_starts_at + make_interval(secs => window_ms / 1000.0) - at) * 1000);
  period_starts_at := public.billing_period_start(anchor, at);
  -- 35 days later is in the next period, whatever month it is.
  period_ends_at := public.billing_period_start(anchor, period_starts_at + interval '35 days');
  SELECT coalesce(max(c.lookup_cached), 0), coalesce(max(c.lookup_live), 0), coalesce(max(c.history_query), 0),
    coalesce(max(c.refresh_requested), 0)
  INTO lookup_cached, lookup_live, history_query, refresh_requested
  FROM public.usage_counters c WHERE c.workspace_id = admit_request.workspace_id AND c.starts_at = period_starts_at;
  RETURN NEXT;
END
$$;

GRANT SELECT ON schema_migrations TO vitrine_store_api, vitrine_enrich;
GRANT SELECT, INSERT, UPDATE ON technologies, stores, workspaces, members, api_keys, candidates, analyses, usage_counters, usage_by_key
  TO vitrine_store_api;
GRANT DELETE ON members TO vitrine_store_api;
GRANT SELECT ON plans, store_technologies, observations, signals TO vitrine_store_api;
GRANT SELECT, INSERT ON scan_jobs, ledger TO vitrine_store_api;
GRANT SELECT, INSERT, DELETE ON evidence, evidence_receipts TO vitrine_store_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON domain_denylist, outbox, idempotency_keys, rate_windows, request_leases TO vitrine_store_api;
GRANT SELECT ON technologies, domain_denylist TO vitrine_enrich;
GRANT SELECT, INSERT, UPDATE ON stores, store_technologies TO vitrine_enrich;
GRANT SELECT, INSERT, UPDATE (evidence) ON observations TO vitrine_enrich;
GRANT SELECT, INSERT ON signals TO vitrine_enrich;
GRANT SELECT, UPDATE ON analyses TO vitrine_enrich;
GRANT SELECT, INSERT, UPDATE, DELETE ON scan_jobs, outbox TO vitrine_enrich;
REVOKE EXECUTE ON FUNCTION make_ledger_partitions(integer), billing_period_start(integer, timestamptz),
  admit_request(bytea[], text, uuid, jsonb, integer, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION make_ledger_partitions(integer), billing_period_start(integer, timestamptz),
  admit_request(bytea[], text, uuid, jsonb, integer, integer) TO vitrine_store_api;

RESET ROLE;
