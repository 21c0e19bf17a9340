-- What the migrations make, for reading: written by npm run golden, never run.

CREATE TABLE analyses (
  id text COLLATE "C" NOT NULL,
  domain text COLLATE "C" NOT NULL,
  scan_job_id text COLLATE "C",
  status text COLLATE "C" NOT NULL DEFAULT 'queued'::text,
  error text,
  created_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT analyses_pkey PRIMARY KEY (id),
  CONSTRAINT analyses_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'completed'::text, 'blocked'::text, 'failed'::text])))
);

CREATE TABLE api_keys (
  id text COLLATE "C" NOT NULL,
  workspace_id text COLLATE "C" NOT NULL,
  label text NOT NULL,
  prefix text COLLATE "C" NOT NULL,
  environment text COLLATE "C" NOT NULL,
  scopes text[] NOT NULL,
  pepper_version integer NOT NULL,
  token_mac bytea NOT NULL,
  created_by text,
  created_at timestamp(3) with time zone NOT NULL,
  expires_at timestamp(3) with time zone,
  revoked_at timestamp(3) with time zone,
  CONSTRAINT api_keys_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'test'::text]))),
  CONSTRAINT api_keys_pkey PRIMARY KEY (id),
  CONSTRAINT api_keys_token_mac_key UNIQUE (token_mac),
  CONSTRAINT api_keys_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);

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

CREATE TABLE brand_facts (
  storefront_id text COLLATE "C" NOT NULL,
  domain text COLLATE "C" NOT NULL,
  shop_id text COLLATE "C",
  organization_ids text[] NOT NULL,
  organization_domain text COLLATE "C",
  hreflang_domains text[] NOT NULL,
  CONSTRAINT brand_facts_pkey PRIMARY KEY (storefront_id),
  CONSTRAINT brand_facts_storefront_id_fkey FOREIGN KEY (storefront_id) REFERENCES stores(storefront_id)
);

CREATE TABLE candidates (
  id text COLLATE "C" NOT NULL,
  evidence_id text COLLATE "C",
  domain text COLLATE "C",
  technology_slug text COLLATE "C",
  claim text NOT NULL,
  source_url text NOT NULL,
  captured_at timestamp(3) with time zone NOT NULL,
  status text COLLATE "C" NOT NULL DEFAULT 'pending'::text,
  received_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT candidates_evidence_id_fkey FOREIGN KEY (evidence_id) REFERENCES evidence(id) ON DELETE SET NULL,
  CONSTRAINT candidates_pkey PRIMARY KEY (id),
  CONSTRAINT candidates_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'resolved'::text, 'rejected'::text]))),
  CONSTRAINT candidates_technology_slug_fkey FOREIGN KEY (technology_slug) REFERENCES technologies(slug)
);

CREATE TABLE day_usage (
  day date NOT NULL,
  org_id text COLLATE "C" NOT NULL,
  workspace_id text COLLATE "C" NOT NULL,
  gateway_key_id text COLLATE "C" NOT NULL,
  requests bigint NOT NULL,
  total_tokens bigint NOT NULL,
  cost_usd numeric(38,12) NOT NULL,
  estimated_tokens bigint NOT NULL DEFAULT 0,
  cost_upper_usd numeric(38,12) NOT NULL DEFAULT 0,
  CONSTRAINT day_usage_pkey PRIMARY KEY (day, org_id, workspace_id, gateway_key_id)
) WITH (fillfactor=80);

CREATE TABLE derivations (
  storefront_id text COLLATE "C" NOT NULL,
  state jsonb NOT NULL,
  registry_checksum text COLLATE "C",
  CONSTRAINT derivations_pkey PRIMARY KEY (storefront_id),
  CONSTRAINT derivations_storefront_id_fkey FOREIGN KEY (storefront_id) REFERENCES stores(storefront_id)
);

CREATE TABLE domain_denylist (
  domain text COLLATE "C" NOT NULL,
  reason text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT domain_denylist_pkey PRIMARY KEY (domain)
);

CREATE TABLE evidence (
  id text COLLATE "C" NOT NULL,
  source_url text NOT NULL,
  captured_at timestamp(3) with time zone NOT NULL,
  received_at timestamp(3) with time zone NOT NULL,
  document jsonb NOT NULL,
  CONSTRAINT evidence_pkey PRIMARY KEY (id)
);

CREATE TABLE evidence_receipts (
  idempotency_key text COLLATE "C" NOT NULL,
  fingerprint bytea NOT NULL,
  receipt text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT evidence_receipts_pkey PRIMARY KEY (idempotency_key)
);

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

CREATE TABLE idempotency_keys (
  workspace_id text COLLATE "C" NOT NULL,
  idempotency_key text COLLATE "C" NOT NULL,
  fingerprint bytea NOT NULL,
  request_id text COLLATE "C" NOT NULL,
  status smallint,
  etag text COLLATE "C",
  body text,
  created_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT idempotency_keys_pkey PRIMARY KEY (workspace_id, idempotency_key),
  CONSTRAINT idempotency_keys_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);

CREATE TABLE ledger (
  workspace_id text COLLATE "C" NOT NULL,
  operation_id text COLLATE "C" NOT NULL,
  domain text COLLATE "C" NOT NULL,
  unit text COLLATE "C" NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  period_starts_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT ledger_pkey PRIMARY KEY (workspace_id, operation_id, domain, unit, created_at),
  CONSTRAINT ledger_unit_check CHECK ((unit = ANY (ARRAY['lookup_cached'::text, 'lookup_live'::text, 'history_query'::text, 'refresh_requested'::text])))
) PARTITION BY RANGE (created_at);

CREATE TABLE login_links (
  token_mac bytea NOT NULL,
  pepper_version integer NOT NULL,
  workspace_id text COLLATE "C" NOT NULL,
  email text COLLATE "C" NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  expires_at timestamp(3) with time zone NOT NULL,
  used_at timestamp(3) with time zone,
  CONSTRAINT login_links_pkey PRIMARY KEY (token_mac),
  CONSTRAINT login_links_workspace_id_email_fkey FOREIGN KEY (workspace_id, email) REFERENCES members(workspace_id, email) ON DELETE CASCADE
);

CREATE TABLE members (
  workspace_id text COLLATE "C" NOT NULL,
  email text COLLATE "C" NOT NULL,
  issuer text COLLATE "C",
  subject text COLLATE "C",
  role text COLLATE "C" NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT members_pkey PRIMARY KEY (workspace_id, email),
  CONSTRAINT members_role_check CHECK ((role = ANY (ARRAY['admin'::text, 'member'::text]))),
  CONSTRAINT members_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  CONSTRAINT members_workspace_id_issuer_subject_key UNIQUE (workspace_id, issuer, subject)
);

CREATE TABLE observation_replays (
  observation_id text COLLATE "C" NOT NULL,
  registry_checksum text COLLATE "C" NOT NULL,
  detections jsonb NOT NULL,
  CONSTRAINT observation_replays_observation_id_fkey FOREIGN KEY (observation_id) REFERENCES observations(id),
  CONSTRAINT observation_replays_pkey PRIMARY KEY (observation_id, registry_checksum)
);

CREATE TABLE observations (
  id text COLLATE "C" NOT NULL,
  storefront_id text COLLATE "C" NOT NULL,
  scan_job_id text COLLATE "C",
  started_at timestamp(3) with time zone NOT NULL,
  completed_at timestamp(3) with time zone NOT NULL,
  scope text COLLATE "C" NOT NULL,
  registry_checksum text COLLATE "C" NOT NULL,
  facts jsonb NOT NULL,
  evidence jsonb,
  CONSTRAINT observations_pkey PRIMARY KEY (id),
  CONSTRAINT observations_scope_check CHECK ((scope = ANY (ARRAY['full'::text, 'partial'::text, 'homepage_only'::text]))),
  CONSTRAINT observations_storefront_id_fkey FOREIGN KEY (storefront_id) REFERENCES stores(storefront_id)
);

CREATE TABLE operator_leadership (
  is_only boolean NOT NULL DEFAULT true,
  epoch bigint NOT NULL DEFAULT 0,
  holder text NOT NULL DEFAULT ''::text,
  taken_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT operator_leadership_is_only_check CHECK (is_only),
  CONSTRAINT operator_leadership_pkey PRIMARY KEY (is_only)
);

CREATE TABLE outbox (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  topic text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  payload text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  published_at timestamp(3) with time zone,
  CONSTRAINT outbox_pkey PRIMARY KEY (id)
);

CREATE TABLE pepper_fingerprints (
  purpose text COLLATE "C" NOT NULL,
  pepper_version integer NOT NULL,
  pepper_fingerprint text COLLATE "C" NOT NULL,
  recorded_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT pepper_fingerprints_pepper_fingerprint_check CHECK ((pepper_fingerprint ~ '^[0-9a-f]{16}$'::text)),
  CONSTRAINT pepper_fingerprints_pkey PRIMARY KEY (purpose, pepper_version),
  CONSTRAINT pepper_fingerprints_purpose_check CHECK ((purpose = ANY (ARRAY['gateway_keys'::text, 'api_keys'::text])))
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

CREATE UNLOGGED TABLE rate_windows (
  key_id text COLLATE "C" NOT NULL,
  starts_at timestamp(3) with time zone NOT NULL,
  requests integer NOT NULL,
  CONSTRAINT rate_windows_pkey PRIMARY KEY (key_id)
) WITH (fillfactor=50);

CREATE TABLE registry_replays (
  registry_checksum text COLLATE "C" NOT NULL,
  first_seen_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  after_storefront_id text COLLATE "C" NOT NULL DEFAULT ''::text,
  remaining integer NOT NULL,
  next_pass_at timestamp(3) with time zone NOT NULL DEFAULT '-infinity'::timestamp with time zone,
  finished_at timestamp(3) with time zone,
  CONSTRAINT registry_replays_pkey PRIMARY KEY (registry_checksum)
);

CREATE TABLE removal_holds (
  slug text COLLATE "C" NOT NULL,
  held_from timestamp(3) with time zone NOT NULL,
  held_until timestamp(3) with time zone NOT NULL,
  losses integer NOT NULL,
  base integer NOT NULL,
  CONSTRAINT removal_holds_pkey PRIMARY KEY (slug, held_from),
  CONSTRAINT removal_holds_slug_fkey FOREIGN KEY (slug) REFERENCES technologies(slug)
);

CREATE UNLOGGED TABLE request_leases (
  key_id text COLLATE "C" NOT NULL,
  slot integer NOT NULL,
  lease_id uuid NOT NULL,
  expires_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT request_leases_pkey PRIMARY KEY (key_id, slot)
) WITH (fillfactor=50);

CREATE UNLOGGED TABLE request_turns (
  target text COLLATE "C" NOT NULL,
  next_at timestamp(3) with time zone NOT NULL,
  interval_ms integer NOT NULL DEFAULT 0,
  interval_until timestamp(3) with time zone NOT NULL DEFAULT '-infinity'::timestamp with time zone,
  holder text COLLATE "C",
  held_until timestamp(3) with time zone NOT NULL DEFAULT '-infinity'::timestamp with time zone,
  backlog_until timestamp(3) with time zone NOT NULL DEFAULT '-infinity'::timestamp with time zone,
  CONSTRAINT request_turns_pkey PRIMARY KEY (target)
) WITH (fillfactor=50);

CREATE TABLE retention_runs (
  name text COLLATE "C" NOT NULL,
  at timestamp(3) with time zone NOT NULL,
  ran_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT retention_runs_pkey PRIMARY KEY (name)
);

CREATE TABLE rule_sets (
  registry_checksum text COLLATE "C" NOT NULL,
  rule_ids text[] NOT NULL,
  CONSTRAINT rule_sets_pkey PRIMARY KEY (registry_checksum)
);

CREATE TABLE scan_jobs (
  id text COLLATE "C" NOT NULL,
  domain text COLLATE "C" NOT NULL,
  cause text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL DEFAULT 'queued'::text,
  error text,
  queued_at timestamp(3) with time zone NOT NULL,
  started_at timestamp(3) with time zone,
  finished_at timestamp(3) with time zone,
  attempts integer NOT NULL DEFAULT 0,
  lease_id text COLLATE "C",
  due_at timestamp(3) with time zone,
  CONSTRAINT scan_jobs_cause_check CHECK ((cause = ANY (ARRAY['requested'::text, 'routine'::text]))),
  CONSTRAINT scan_jobs_pkey PRIMARY KEY (id),
  CONSTRAINT scan_jobs_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'completed'::text, 'blocked'::text, 'failed'::text])))
);

CREATE TABLE schema_migrations (
  id integer NOT NULL DEFAULT nextval('schema_migrations_id_seq'::regclass),
  name character varying(255) NOT NULL,
  run_on timestamp without time zone NOT NULL,
  CONSTRAINT schema_migrations_pkey PRIMARY KEY (id)
);

CREATE TABLE signals (
  id text COLLATE "C" NOT NULL,
  storefront_id text COLLATE "C" NOT NULL,
  observation_id text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  technology text COLLATE "C",
  "from" text COLLATE "C",
  "to" text COLLATE "C",
  effective_at timestamp(3) with time zone NOT NULL,
  confirmed_at timestamp(3) with time zone NOT NULL,
  confidence text COLLATE "C" NOT NULL,
  withdrawn_at timestamp(3) with time zone,
  CONSTRAINT signals_confidence_check CHECK ((confidence = ANY (ARRAY['high'::text, 'medium'::text, 'low'::text]))),
  CONSTRAINT signals_from_fkey FOREIGN KEY ("from") REFERENCES technologies(slug),
  CONSTRAINT signals_observation_id_fkey FOREIGN KEY (observation_id) REFERENCES observations(id),
  CONSTRAINT signals_pkey PRIMARY KEY (id),
  CONSTRAINT signals_storefront_id_fkey FOREIGN KEY (storefront_id) REFERENCES stores(storefront_id),
  CONSTRAINT signals_technology_fkey FOREIGN KEY (technology) REFERENCES technologies(slug),
  CONSTRAINT signals_to_fkey FOREIGN KEY ("to") REFERENCES technologies(slug)
);

CREATE TABLE store_technologies (
  storefront_id text COLLATE "C" NOT NULL,
  slug text COLLATE "C" NOT NULL,
  install_state text COLLATE "C" NOT NULL,
  confidence text COLLATE "C" NOT NULL,
  first_observed_at timestamp(3) with time zone NOT NULL,
  last_confirmed_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT store_technologies_confidence_check CHECK ((confidence = ANY (ARRAY['high'::text, 'medium'::text, 'low'::text]))),
  CONSTRAINT store_technologies_install_state_check CHECK ((install_state = ANY (ARRAY['active'::text, 'configured'::text, 'inactive'::text]))),
  CONSTRAINT store_technologies_pkey PRIMARY KEY (storefront_id, slug),
  CONSTRAINT store_technologies_slug_fkey FOREIGN KEY (slug) REFERENCES technologies(slug),
  CONSTRAINT store_technologies_storefront_id_fkey FOREIGN KEY (storefront_id) REFERENCES stores(storefront_id)
);

CREATE TABLE stores (
  storefront_id text COLLATE "C" NOT NULL,
  domain text COLLATE "C" NOT NULL,
  storefront_host text COLLATE "C" NOT NULL,
  brand_group_id text COLLATE "C",
  name text,
  rank integer,
  platform text COLLATE "C",
  platform_confidence text COLLATE "C",
  platform_first_observed_at timestamp(3) with time zone,
  platform_last_confirmed_at timestamp(3) with time zone,
  state text COLLATE "C" NOT NULL,
  state_as_of timestamp(3) with time zone NOT NULL,
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
  catalog_as_of timestamp(3) with time zone,
  catalog_coverage text COLLATE "C",
  first_observed_at timestamp(3) with time zone,
  last_completed_scan_at timestamp(3) with time zone,
  scope text COLLATE "C",
  coverage_note text,
  last_observation_id text COLLATE "C",
  profile text,
  profile_hash text COLLATE "C",
  next_scan_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  moved_to text COLLATE "C",
  CONSTRAINT stores_domain_key UNIQUE (domain),
  CONSTRAINT stores_moved_to_fkey FOREIGN KEY (moved_to) REFERENCES stores(storefront_id),
  CONSTRAINT stores_pkey PRIMARY KEY (storefront_id),
  CONSTRAINT stores_platform_fkey FOREIGN KEY (platform) REFERENCES technologies(slug),
  CONSTRAINT stores_state_check CHECK ((state = ANY (ARRAY['candidate'::text, 'reachable'::text, 'verified_ecommerce'::text, 'active_storefront'::text, 'inactive'::text])))
) WITH (toast_tuple_target=8160);

CREATE TABLE technologies (
  slug text COLLATE "C" NOT NULL,
  name text NOT NULL,
  kind text COLLATE "C" NOT NULL,
  category text COLLATE "C" NOT NULL,
  vendor text,
  website text,
  CONSTRAINT technologies_kind_check CHECK ((kind = ANY (ARRAY['platform'::text, 'app'::text, 'service'::text, 'theme'::text]))),
  CONSTRAINT technologies_pkey PRIMARY KEY (slug)
);

CREATE TABLE technology_losses (
  slug text COLLATE "C" NOT NULL,
  day date NOT NULL,
  storefront_id text COLLATE "C" NOT NULL,
  CONSTRAINT technology_losses_pkey PRIMARY KEY (slug, day, storefront_id),
  CONSTRAINT technology_losses_slug_fkey FOREIGN KEY (slug) REFERENCES technologies(slug),
  CONSTRAINT technology_losses_storefront_id_fkey FOREIGN KEY (storefront_id) REFERENCES stores(storefront_id)
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
  rejected bigint NOT NULL DEFAULT 0,
  unpriced bigint NOT NULL DEFAULT 0,
  estimated bigint NOT NULL DEFAULT 0,
  missing_usage bigint NOT NULL DEFAULT 0,
  cost_upper_usd numeric(38,12) NOT NULL DEFAULT 0,
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
  rejected bigint NOT NULL DEFAULT 0,
  unpriced bigint NOT NULL DEFAULT 0,
  estimated bigint NOT NULL DEFAULT 0,
  missing_usage bigint NOT NULL DEFAULT 0,
  cost_upper_usd numeric(38,12) NOT NULL DEFAULT 0,
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
  rejected bigint NOT NULL DEFAULT 0,
  unpriced bigint NOT NULL DEFAULT 0,
  estimated bigint NOT NULL DEFAULT 0,
  missing_usage bigint NOT NULL DEFAULT 0,
  cost_upper_usd numeric(38,12) NOT NULL DEFAULT 0,
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
  rejected bigint NOT NULL DEFAULT 0,
  unpriced bigint NOT NULL DEFAULT 0,
  estimated bigint NOT NULL DEFAULT 0,
  missing_usage bigint NOT NULL DEFAULT 0,
  cost_upper_usd numeric(38,12) NOT NULL DEFAULT 0,
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
  cost_upper_usd numeric(38,12),
  response_model text COLLATE "C",
  CONSTRAINT traces_pkey PRIMARY KEY (id, created_at)
) PARTITION BY RANGE (created_at);

CREATE TABLE usage_by_key (
  workspace_id text COLLATE "C" NOT NULL,
  starts_at timestamp(3) with time zone NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  lookup_cached bigint NOT NULL DEFAULT 0,
  lookup_live bigint NOT NULL DEFAULT 0,
  history_query bigint NOT NULL DEFAULT 0,
  refresh_requested bigint NOT NULL DEFAULT 0,
  CONSTRAINT usage_by_key_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_keys(id),
  CONSTRAINT usage_by_key_pkey PRIMARY KEY (workspace_id, starts_at, key_id),
  CONSTRAINT usage_by_key_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
) WITH (fillfactor=50);

CREATE TABLE usage_counters (
  workspace_id text COLLATE "C" NOT NULL,
  starts_at timestamp(3) with time zone NOT NULL,
  lookup_cached bigint NOT NULL DEFAULT 0,
  lookup_live bigint NOT NULL DEFAULT 0,
  history_query bigint NOT NULL DEFAULT 0,
  refresh_requested bigint NOT NULL DEFAULT 0,
  CONSTRAINT usage_counters_pkey PRIMARY KEY (workspace_id, starts_at),
  CONSTRAINT usage_counters_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
) WITH (fillfactor=50);

CREATE TABLE workspace_plans (
  org_id text COLLATE "C" NOT NULL,
  workspace_id text COLLATE "C" NOT NULL,
  plan text COLLATE "C" NOT NULL,
  CONSTRAINT workspace_plans_pkey PRIMARY KEY (org_id, workspace_id),
  CONSTRAINT workspace_plans_plan_fkey FOREIGN KEY (plan) REFERENCES plans(name)
);

CREATE TABLE workspaces (
  id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  plan text COLLATE "C" NOT NULL,
  anchor_day smallint NOT NULL,
  gateway_org_id text COLLATE "C" NOT NULL,
  gateway_workspace_id text COLLATE "C" NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT workspaces_anchor_day_check CHECK (((anchor_day >= 1) AND (anchor_day <= 31))),
  CONSTRAINT workspaces_pkey PRIMARY KEY (id),
  CONSTRAINT workspaces_plan_check CHECK ((plan = ANY (ARRAY['free'::text, 'pro'::text, 'growth'::text, 'partner'::text])))
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

CREATE TABLE ledger_default PARTITION OF ledger DEFAULT;
CREATE TABLE trace_bodies_default PARTITION OF trace_bodies DEFAULT;
CREATE TABLE traces_default PARTITION OF traces DEFAULT;

CREATE INDEX analyses_by_time ON public.analyses USING btree (created_at);
CREATE INDEX analyses_of_job ON public.analyses USING btree (scan_job_id);
CREATE INDEX api_keys_by_pepper ON public.api_keys USING btree (pepper_version, expires_at) WHERE (revoked_at IS NULL);
CREATE INDEX api_keys_of_workspace ON public.api_keys USING btree (workspace_id);
CREATE INDEX audit_events_by_time ON public.audit_events USING btree (at, number);
CREATE INDEX audit_events_of_tenant ON public.audit_events USING btree (org_id, workspace_id, at, number);
CREATE INDEX background_responses_by_time ON public.background_responses USING btree (created_at);
CREATE INDEX brand_facts_by_domain ON public.brand_facts USING btree (domain);
CREATE INDEX brand_facts_by_organization ON public.brand_facts USING btree (organization_domain) WHERE (organization_domain IS NOT NULL);
CREATE INDEX brand_facts_by_organization_id ON public.brand_facts USING gin (organization_ids);
CREATE INDEX brand_facts_by_shop ON public.brand_facts USING btree (shop_id) WHERE (shop_id IS NOT NULL);
CREATE INDEX candidates_by_status ON public.candidates USING btree (status, id);
CREATE INDEX candidates_by_time ON public.candidates USING btree (received_at);
CREATE INDEX candidates_of_domain ON public.candidates USING btree (domain, id);
CREATE INDEX candidates_of_evidence ON public.candidates USING btree (evidence_id);
CREATE INDEX evidence_by_time ON public.evidence USING btree (received_at);
CREATE INDEX evidence_receipts_by_time ON public.evidence_receipts USING btree (created_at);
CREATE INDEX gateway_keys_active ON public.gateway_keys USING btree (created_at, id) WHERE (revoked_at IS NULL);
CREATE INDEX gateway_keys_by_plan ON public.gateway_keys USING btree (plan) WHERE ((plan IS NOT NULL) AND (revoked_at IS NULL));
CREATE INDEX idempotency_keys_by_time ON public.idempotency_keys USING btree (created_at);
CREATE INDEX login_links_by_expiry ON public.login_links USING btree (expires_at);
CREATE INDEX login_links_of_member ON public.login_links USING btree (workspace_id, email);
CREATE INDEX observations_of_store ON public.observations USING btree (storefront_id, completed_at, id);
CREATE INDEX observations_with_evidence ON public.observations USING btree (completed_at) WHERE (evidence IS NOT NULL);
CREATE INDEX outbox_published ON public.outbox USING btree (published_at) WHERE (published_at IS NOT NULL);
CREATE INDEX outbox_unpublished ON public.outbox USING btree (id) WHERE (published_at IS NULL);
CREATE INDEX outbox_unpublished_by_key ON public.outbox USING btree (topic, key, id) WHERE (published_at IS NULL);
CREATE INDEX outbox_unpublished_by_topic ON public.outbox USING btree (topic, id) WHERE (published_at IS NULL);
CREATE INDEX removal_holds_by_end ON public.removal_holds USING btree (held_until);
CREATE INDEX request_turns_by_holder ON public.request_turns USING btree (holder) WHERE (holder IS NOT NULL);
CREATE INDEX request_turns_by_time ON public.request_turns USING btree (next_at);
CREATE INDEX scan_jobs_due ON public.scan_jobs USING btree (due_at) WHERE ((status = ANY (ARRAY['queued'::text, 'running'::text])) AND (due_at IS NOT NULL));
CREATE INDEX scan_jobs_finished ON public.scan_jobs USING btree (finished_at) WHERE (finished_at IS NOT NULL);
CREATE INDEX scan_jobs_last_of_domain ON public.scan_jobs USING btree (domain, finished_at DESC) WHERE (finished_at IS NOT NULL);
CREATE UNIQUE INDEX scan_jobs_open ON public.scan_jobs USING btree (domain) WHERE (status = ANY (ARRAY['queued'::text, 'running'::text]));
CREATE INDEX scan_jobs_undelivered ON public.scan_jobs USING btree (queued_at) WHERE ((status = 'queued'::text) AND (due_at IS NULL));
CREATE INDEX signals_of_store ON public.signals USING btree (storefront_id, confirmed_at DESC, id);
CREATE INDEX store_technologies_installed ON public.store_technologies USING btree (slug) WHERE (install_state <> 'inactive'::text);
CREATE INDEX stores_moved_to ON public.stores USING btree (moved_to) WHERE (moved_to IS NOT NULL);
CREATE INDEX stores_rescan_active ON public.stores USING btree (next_scan_at) WHERE (state = 'active_storefront'::text);
CREATE INDEX stores_rescan_others ON public.stores USING btree (next_scan_at) WHERE (state <> 'active_storefront'::text);
CREATE INDEX trace_sums_by_key_day_by_time ON public.trace_sums_by_key_day USING btree (bucket_start);
CREATE INDEX trace_sums_by_key_hour_by_time ON public.trace_sums_by_key_hour USING btree (bucket_start);
CREATE INDEX trace_sums_by_model_day_by_time ON public.trace_sums_by_model_day USING btree (bucket_start);
CREATE INDEX trace_sums_by_model_hour_by_time ON public.trace_sums_by_model_hour USING btree (bucket_start);
CREATE INDEX traces_of_cost_status ON ONLY public.traces USING btree (cost_status, id) WHERE (cost_status <> 'priced'::text);
CREATE INDEX traces_of_credential ON ONLY public.traces USING btree (api_key_hash, id) WHERE (api_key_hash IS NOT NULL);
CREATE INDEX traces_of_group ON ONLY public.traces USING btree (trace_group_id, id) WHERE (trace_group_id IS NOT NULL);
CREATE INDEX traces_of_model ON ONLY public.traces USING btree (model, id);
CREATE INDEX traces_of_run ON ONLY public.traces USING btree (run_id, id) WHERE (run_id IS NOT NULL);
CREATE INDEX traces_of_status ON ONLY public.traces USING btree (response_status, id) WHERE (response_status <> 200);
CREATE INDEX traces_of_tenant ON ONLY public.traces USING btree (org_id, workspace_id, id);
CREATE INDEX traces_of_thread ON ONLY public.traces USING btree (thread_id, id) WHERE (thread_id IS NOT NULL);
CREATE INDEX traces_of_tokens ON ONLY public.traces USING btree (total_tokens);
CREATE INDEX traces_of_usage_status ON ONLY public.traces USING btree (usage_status, id) WHERE (usage_status <> 'reported'::text);
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

CREATE OR REPLACE FUNCTION public.admit_request(token_macs bytea[], required_scope text, lease_id uuid, default_limits jsonb, window_ms integer, lease_ms integer)
 RETURNS TABLE(outcome text, key_id text, label text, prefix text, environment text, scopes text[], expires_at timestamp with time zone, workspace_id text, workspace_name text, plan text, limits jsonb, requests_left integer, window_ends_in_ms integer, period_starts_at timestamp with time zone, period_ends_at timestamp with time zone, lookup_cached bigint, lookup_live bigint, history_query bigint, refresh_requested bigint)
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
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
    WHEN required_scope IS NOT NULL AND NOT required_scope = ANY (scopes) THEN 'forbidden_scope' ELSE 'admitted' END;
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
$function$
;

CREATE OR REPLACE FUNCTION public.billing_period_start(anchor_day integer, at timestamp with time zone)
 RETURNS timestamp with time zone
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
DECLARE
  month timestamp := date_trunc('month', at AT TIME ZONE 'UTC');
BEGIN
  IF least(month + make_interval(days => anchor_day - 1), month + interval '1 month - 1 day') > at AT TIME ZONE 'UTC' THEN
    month := month - interval '1 month';
  END IF;
  RETURN least(month + make_interval(days => anchor_day - 1), month + interval '1 month - 1 day') AT TIME ZONE 'UTC';
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

CREATE OR REPLACE FUNCTION public.make_ledger_partitions(months_ahead integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
 SET lock_timeout TO '2s'
AS $function$
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
  EXECUTE format('LOCK TABLE ONLY public.%I IN SHARE ROW EXCLUSIVE MODE', parent);
  EXECUTE format('LOCK TABLE public.%I IN SHARE ROW EXCLUSIVE MODE', parent || '_default');
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

CREATE OR REPLACE FUNCTION public.remove_old_traces(created_before timestamp with time zone, max_days integer DEFAULT 8)
 RETURNS TABLE(what text, removed bigint, oldest timestamp with time zone, newest timestamp with time zone)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
 SET lock_timeout TO '2s'
AS $function$
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
$function$
;

CREATE OR REPLACE FUNCTION public.report_quota_usage(reporter uuid, report_sequence bigint, quota_day date, lease_ms integer, names text[], units text[], limits numeric[], useds numeric[], helds numeric[], wanteds numeric[], counts_unknown boolean DEFAULT true)
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

CREATE OR REPLACE FUNCTION public.stored_quota_usage(usage_day date, name text, unit text, counts_unknown boolean)
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
  SELECT sum(CASE
    WHEN unit = 'tokens' AND counts_unknown THEN total_tokens
    WHEN unit = 'tokens' THEN total_tokens - estimated_tokens
    WHEN counts_unknown THEN cost_upper_usd * 1000000000000
    ELSE cost_usd * 1000000000000 END) INTO result FROM public.day_usage
  WHERE day = usage_day AND org_id = ids[1] AND workspace_id = ids[2] AND (cardinality(ids) < 3 OR gateway_key_id = ids[3]);
  RETURN coalesce(result, 0);
END
$function$
;

CREATE OR REPLACE FUNCTION public.take_request_turn(targets text[], scan text, usual_interval_ms integer, hold_ms integer, max_wait_ms integer, backlog_ms integer)
 RETURNS TABLE(wait_ms integer, put_off boolean)
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
#variable_conflict use_column
DECLARE
  at timestamptz;
  turn timestamptz;
  line_end timestamptz;
  is_busy boolean;
  is_held boolean;
BEGIN
  INSERT INTO public.request_turns (target, next_at) SELECT t, '-infinity' FROM unnest(targets) AS t ORDER BY t ON CONFLICT DO NOTHING;
  PERFORM FROM public.request_turns r WHERE r.target = ANY (targets) ORDER BY r.target FOR UPDATE;
  at := date_trunc('milliseconds', clock_timestamp()); -- After the wait for the rows.
  SELECT greatest(at, max(r.next_at)), bool_or(r.held_until > at AND r.holder <> scan), bool_or(r.held_until > at AND r.holder = scan),
    greatest(at, max(r.backlog_until))
  INTO turn, is_busy, is_held, line_end FROM public.request_turns r WHERE r.target = ANY (targets);
  put_off := coalesce(is_busy, false) OR (NOT coalesce(is_held, false) AND turn > at + make_interval(secs => max_wait_ms / 1000.0));
  IF put_off AND backlog_ms > 0 THEN
    line_end := greatest(line_end, CASE WHEN is_busy THEN at ELSE turn END) + make_interval(secs => backlog_ms / 1000.0);
    UPDATE public.request_turns r SET backlog_until = line_end WHERE r.target = ANY (targets);
    wait_ms := ceil(extract(epoch FROM line_end - at) * 1000);
  ELSE
    wait_ms := ceil(extract(epoch FROM turn - at) * 1000);
  END IF;
  IF NOT put_off THEN
    UPDATE public.request_turns r SET holder = scan, held_until = turn + make_interval(secs => hold_ms / 1000.0),
      next_at = turn + make_interval(secs => greatest(usual_interval_ms, CASE WHEN r.interval_until > at THEN r.interval_ms ELSE 0 END) / 1000.0)
    WHERE r.target = ANY (targets);
  END IF;
  RETURN NEXT;
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

COMMENT ON TABLE analyses IS 'analyses that customers asked for; the result of one is the store itself';
COMMENT ON TABLE api_keys IS 'keys of the store API, also expired and revoked ones';
COMMENT ON TABLE audit_events IS 'who changed gateway keys, or was refused';
COMMENT ON TABLE background_responses IS 'responses that were created in the background, each of which is counted once';
COMMENT ON TABLE brand_facts IS 'what stores state about who they are, as of their last open observations';
COMMENT ON TABLE candidates IS 'single claims of evidence, and what became of them';
COMMENT ON TABLE day_usage IS 'what a key used on a UTC day, by the created_at of its traces: quotas count it';
COMMENT ON TABLE derivations IS 'what the log of a store adds up to, so that an observation is compared without reading it; can be derived again';
COMMENT ON TABLE domain_denylist IS 'domains that are never scanned';
COMMENT ON TABLE evidence IS 'captures that claim relationships between stores and technologies';
COMMENT ON TABLE evidence_receipts IS 'answers to evidence that was sent, for retries';
COMMENT ON TABLE gateway_key_store IS 'one row: its id identifies the data, so that another database in its place is noticed';
COMMENT ON TABLE gateway_keys IS 'keys of gateway clients, also revoked ones';
COMMENT ON TABLE idempotency_keys IS 'responses to requests with an Idempotency-Key, for retries';
COMMENT ON TABLE ledger IS 'every billed unit is a row, which nobody may change; in partitions of a month in UTC, called ledger_202601';
COMMENT ON TABLE ledger_default IS 'rows of months without a partition: a clock was wrong, or nothing has created it yet';
COMMENT ON TABLE login_links IS 'links that sign a member in once';
COMMENT ON TABLE members IS 'people of a workspace';
COMMENT ON TABLE observation_replays IS 'what other rules made of the evidence of an observation, kept because evidence is removed after 180 days';
COMMENT ON TABLE observations IS 'the log of what scans found, which nobody may change';
COMMENT ON TABLE operator_leadership IS 'one row: the operator process that leads, and how often the leader has changed';
COMMENT ON TABLE outbox IS 'messages of committed transactions, until a relay has published them';
COMMENT ON TABLE pepper_fingerprints IS 'which pepper each version names';
COMMENT ON TABLE plan_generation IS 'one row: a number that rises with every change of plans and workspace_plans; services poll it where notifications do not reach them';
COMMENT ON TABLE plans IS 'one row per PlanLimits resource, written by the operator';
COMMENT ON TABLE quota_reservations IS 'what each gateway process has used of a daily quota on a UTC day, and up to where it may go on';
COMMENT ON TABLE rate_allotments IS 'which part of a request rate each gateway process may use: together at most the limit';
COMMENT ON TABLE rate_windows IS 'requests of each store API key in its current minute';
COMMENT ON TABLE registry_replays IS 'one row for each registry that a scanner ran with; stores follow the newest one alone';
COMMENT ON TABLE removal_holds IS 'removals of a technology confirmed in this time are not applied before its end: too many stores lost it at once';
COMMENT ON TABLE request_leases IS 'requests of each store API key in flight';
COMMENT ON TABLE request_turns IS 'when the next request may be sent to a host, or to the edge that many hosts share, and which scan has its connection';
COMMENT ON TABLE retention_runs IS 'one row per loop that removes old data';
COMMENT ON TABLE rule_sets IS 'the rules of each registry that an observation was read by';
COMMENT ON TABLE scan_jobs IS 'scans that wait, run or ended some days ago';
COMMENT ON TABLE schema_migrations IS 'the migrations that ran';
COMMENT ON TABLE signals IS 'changes of stores that observations confirmed';
COMMENT ON TABLE store_technologies IS 'technologies that a storefront has or had';
COMMENT ON TABLE stores IS 'one row per storefront: what its last observations add up to';
COMMENT ON TABLE technologies IS 'the vocabulary of detection; filled by the store API from the registry';
COMMENT ON TABLE technology_losses IS 'stores that missed a technology for the third time on a day in UTC, held or not; removed after a week';
COMMENT ON TABLE token_hashes IS 'every hash that a token of a gateway key has or ever had: none is given to another key';
COMMENT ON TABLE trace_bodies IS 'what only the page of one trace shows; partitions and ids as in traces';
COMMENT ON TABLE trace_bodies_default IS 'rows of days without a partition: a clock was wrong, or a spool was drained late';
COMMENT ON TABLE trace_hours IS 'between which created_at the traces of an hour of timestamp were made, so that lists and measures by time read these partitions only';
COMMENT ON TABLE trace_retention IS 'one row: traces made before removed_before are gone, and remain only in the sums';
COMMENT ON TABLE trace_sums_by_key_day IS 'as trace_sums_by_key_hour, of UTC days: a month takes a thirtieth of the rows';
COMMENT ON TABLE trace_sums_by_key_hour IS 'sums of the traces with a timestamp in one UTC hour, by gateway key, credential and model; written with the traces, and kept when they are removed';
COMMENT ON TABLE trace_sums_by_model_day IS 'as trace_sums_by_model_hour, of UTC days';
COMMENT ON TABLE trace_sums_by_model_hour IS 'the same sums by tenant and model, for queries without a key';
COMMENT ON TABLE traces IS 'one row per exchange, in partitions of a day; headers, bodies and metadata are in trace_bodies, so that lists read narrow rows';
COMMENT ON TABLE traces_default IS 'rows of days without a partition: a clock was wrong, or a spool was drained late';
COMMENT ON TABLE usage_by_key IS 'the same, by key';
COMMENT ON TABLE usage_counters IS 'what a workspace has consumed in a billing period; changed in the transactions that write the ledger';
COMMENT ON TABLE workspace_plans IS 'the plan of each workspace of the gateway that has one';
COMMENT ON TABLE workspaces IS 'customers of the store API';
COMMENT ON TABLE writer_statistics IS 'what each writer process has written and dropped, for the diagnostics of the gateway';

COMMENT ON COLUMN api_keys.prefix IS 'tag and first four characters of the secret';
COMMENT ON COLUMN api_keys.token_mac IS 'HMAC-SHA-256 of the token under the pepper of pepper_version';
COMMENT ON COLUMN background_responses.response IS 'a hash of the id that the provider gave';
COMMENT ON COLUMN brand_facts.organization_domain IS 'of the URL of the organisation that the store declares';
COMMENT ON COLUMN brand_facts.organization_ids IS 'registration numbers, such as vatid:de123456789';
COMMENT ON COLUMN brand_facts.shop_id IS 'platform:id, as the server states it';
COMMENT ON COLUMN day_usage.estimated_tokens IS 'the part of total_tokens that no provider reported';
COMMENT ON COLUMN day_usage.total_tokens IS 'with estimates of unknown usage';
COMMENT ON COLUMN derivations.registry_checksum IS 'of the rules by which the state was last read; NULL before the first open page and where an earlier version wrote it';
COMMENT ON COLUMN evidence_receipts.receipt IS 'JSON as it was returned, for retries';
COMMENT ON COLUMN gateway_keys.changed_by IS 'the process that made the last change, which need not be notified of it';
COMMENT ON COLUMN gateway_keys.owner_uid IS 'of the GatewayKey resource: nothing else may change or revoke the row';
COMMENT ON COLUMN gateway_keys.revision IS 'of the last change; given under an advisory lock, so that revisions are committed in order';
COMMENT ON COLUMN idempotency_keys.body IS 'the response as it was sent; with request_id, status and etag it is the whole replay';
COMMENT ON COLUMN idempotency_keys.fingerprint IS 'SHA-256 of operation, canonical path and canonical body';
COMMENT ON COLUMN ledger.operation_id IS 'made by the server for each request that is billed';
COMMENT ON COLUMN ledger.period_starts_at IS 'the billing period that paid';
COMMENT ON COLUMN login_links.token_mac IS 'HMAC-SHA-256 of the token under the pepper of pepper_version';
COMMENT ON COLUMN members.subject IS 'of the issuer; NULL until the first sign-in';
COMMENT ON COLUMN observations.evidence IS 'what rules were applied to, for replays under new rules; removed after 180 days';
COMMENT ON COLUMN observations.facts IS 'what the scan found, for replays of the log';
COMMENT ON COLUMN observations.scan_job_id IS 'no foreign key: finished jobs are removed after days';
COMMENT ON COLUMN outbox.payload IS 'JSON';
COMMENT ON COLUMN pepper_fingerprints.pepper_fingerprint IS 'of a fixed text under the pepper: verifies no token';
COMMENT ON COLUMN pepper_fingerprints.purpose IS 'whose tokens: those of gateway_keys, or those of api_keys and login_links';
COMMENT ON COLUMN plans.limits IS 'as the spec of a PlanLimits resource: the limits of the store API, included, and the thresholds of the gateway under gateway';
COMMENT ON COLUMN quota_reservations.name IS 'org, workspace and, for a key, its id; separated by line feeds';
COMMENT ON COLUMN quota_reservations.sequence IS 'of the report within its process: one that arrives after a later one changes nothing';
COMMENT ON COLUMN quota_reservations.unit IS 'tokens, or trillionths of a dollar';
COMMENT ON COLUMN quota_reservations.used IS 'by exchanges of the process whose usage is known';
COMMENT ON COLUMN rate_allotments.name IS 'org, workspace and, for a key, its id; separated by line feeds';
COMMENT ON COLUMN rate_allotments.sequence IS 'of the report within its process: one that arrives after a later one changes nothing';
COMMENT ON COLUMN rate_allotments.used IS 'requests in the window before the report; with wanted, for whoever looks';
COMMENT ON COLUMN registry_replays.after_storefront_id IS 'stores up to this one have been taken by a scanner in this pass';
COMMENT ON COLUMN registry_replays.remaining IS 'stores that stand by other rules, counted at the start of a pass and reduced by those that are taken';
COMMENT ON COLUMN removal_holds.base IS 'stores that had it, counted as far as the decision needed';
COMMENT ON COLUMN request_leases.expires_at IS 'the slot is free from then on: at once when its request ends, after the lease when its process has died';
COMMENT ON COLUMN request_leases.slot IS 'from 0; rows stay and are used again, because rows that come and go leave dead ones for every count to pass';
COMMENT ON COLUMN request_turns.backlog_until IS 'the end of the line of scans that were put off';
COMMENT ON COLUMN request_turns.holder IS 'the scan that has the one connection, until held_until or until it gives it back';
COMMENT ON COLUMN request_turns.interval_ms IS 'between two requests, where the host asked for more than usual, until interval_until';
COMMENT ON COLUMN request_turns.target IS 'host:NAME, or the edge: edge:shopify, ip:ADDRESS';
COMMENT ON COLUMN retention_runs.at IS 'the time by which data was removed last; behind ran_at while it catches up';
COMMENT ON COLUMN retention_runs.ran_at IS 'the clock of the database at that run';
COMMENT ON COLUMN scan_jobs.attempts IS 'attempts that began, without those that were put off or handed back';
COMMENT ON COLUMN scan_jobs.due_at IS 'from then on any process may take it: the end of the lease while it runs, its next attempt while it waits; NULL: its message has not come';
COMMENT ON COLUMN scan_jobs.lease_id IS 'of the process that runs it; only the holder may end the job';
COMMENT ON COLUMN signals.observation_id IS 'the one that confirmed it';
COMMENT ON COLUMN signals.withdrawn_at IS 'when an observation that arrived late showed that it was none; nothing shows it since';
COMMENT ON COLUMN stores.is_ecommerce IS 'a completed observation showed commerce; without it, and with one, the domain is not_ecommerce';
COMMENT ON COLUMN stores.moved_to IS 'the storefront that this domain redirects to, whose profile it has';
COMMENT ON COLUMN stores.next_scan_at IS 'from then on the scheduler queues a routine scan';
COMMENT ON COLUMN stores.profile IS 'the Store resource as responses carry it; NULL while there is none to return';
COMMENT ON COLUMN stores.profile_hash IS 'of the text of profile, for ETags';
COMMENT ON COLUMN stores.rank IS 'from an imported list of domains';
COMMENT ON COLUMN trace_bodies.metadata IS 'JSON as text: nothing is queried by its keys, and text is written a quarter faster';
COMMENT ON COLUMN trace_bodies.request_headers IS 'redacted header lines';
COMMENT ON COLUMN trace_sums_by_key_hour.api_key_hash IS 'in hex; empty for exchanges without a credential';
COMMENT ON COLUMN trace_sums_by_key_hour.latencies IS 'pairs {bucket, count}; a bucket may be there several times';
COMMENT ON COLUMN trace_sums_by_model_day.org_id IS '* with workspace_id * : all tenants; no id has this character';
COMMENT ON COLUMN trace_sums_by_model_hour.org_id IS '* with workspace_id * : all tenants; no id has this character';
COMMENT ON COLUMN traces.api_key_hash IS 'SHA-256 of the provider credential, never of the gateway key';
COMMENT ON COLUMN traces.cost_upper_usd IS 'an upper bound of the cost; NULL in older rows, where it is the cost';
COMMENT ON COLUMN traces.group_fallback IS 'the group is the trace id of a traceparent: a label, not what the client named';
COMMENT ON COLUMN traces.response_model IS 'the model that served, if it is not the requested one; sums are by it';
COMMENT ON COLUMN workspaces.anchor_day IS 'day of the month on which billing periods start, in UTC';
COMMENT ON COLUMN workspaces.gateway_org_id IS 'its tenant at the AI traffic gateway, with gateway_workspace_id';
COMMENT ON COLUMN workspaces.plan IS 'of plans; without a row there, the limits that the store API has for it';
COMMENT ON COLUMN writer_statistics.dropped_by IS 'counts by operation and error_class, such as {"write_trace timeout": 3}';
COMMENT ON COLUMN writer_statistics.last_dropped_by IS 'operation and error_class of the last dropped trace, such as write_trace timeout';

CREATE ROLE vitrine_enrich;
CREATE ROLE vitrine_gateway;
CREATE ROLE vitrine_migrations;
CREATE ROLE vitrine_operator;
CREATE ROLE vitrine_store_api;
CREATE ROLE vitrine_trace_writer;

ALTER TABLE analyses OWNER TO vitrine_migrations;
ALTER TABLE api_keys OWNER TO vitrine_migrations;
ALTER TABLE audit_events OWNER TO vitrine_migrations;
ALTER TABLE background_responses OWNER TO vitrine_migrations;
ALTER TABLE brand_facts OWNER TO vitrine_migrations;
ALTER TABLE candidates OWNER TO vitrine_migrations;
ALTER TABLE day_usage OWNER TO vitrine_migrations;
ALTER TABLE derivations OWNER TO vitrine_migrations;
ALTER TABLE domain_denylist OWNER TO vitrine_migrations;
ALTER TABLE evidence OWNER TO vitrine_migrations;
ALTER TABLE evidence_receipts OWNER TO vitrine_migrations;
ALTER TABLE gateway_key_store OWNER TO vitrine_migrations;
ALTER TABLE gateway_keys OWNER TO vitrine_migrations;
ALTER TABLE idempotency_keys OWNER TO vitrine_migrations;
ALTER TABLE ledger OWNER TO vitrine_migrations;
ALTER TABLE ledger_default OWNER TO vitrine_migrations;
ALTER TABLE login_links OWNER TO vitrine_migrations;
ALTER TABLE members OWNER TO vitrine_migrations;
ALTER TABLE observation_replays OWNER TO vitrine_migrations;
ALTER TABLE observations OWNER TO vitrine_migrations;
ALTER TABLE operator_leadership OWNER TO vitrine_migrations;
ALTER TABLE outbox OWNER TO vitrine_migrations;
ALTER TABLE pepper_fingerprints OWNER TO vitrine_migrations;
ALTER TABLE plan_generation OWNER TO vitrine_migrations;
ALTER TABLE plans OWNER TO vitrine_migrations;
ALTER TABLE quota_reservations OWNER TO vitrine_migrations;
ALTER TABLE rate_allotments OWNER TO vitrine_migrations;
ALTER TABLE rate_windows OWNER TO vitrine_migrations;
ALTER TABLE registry_replays OWNER TO vitrine_migrations;
ALTER TABLE removal_holds OWNER TO vitrine_migrations;
ALTER TABLE request_leases OWNER TO vitrine_migrations;
ALTER TABLE request_turns OWNER TO vitrine_migrations;
ALTER TABLE retention_runs OWNER TO vitrine_migrations;
ALTER TABLE rule_sets OWNER TO vitrine_migrations;
ALTER TABLE scan_jobs OWNER TO vitrine_migrations;
ALTER TABLE schema_migrations OWNER TO vitrine_migrations;
ALTER TABLE signals OWNER TO vitrine_migrations;
ALTER TABLE store_technologies OWNER TO vitrine_migrations;
ALTER TABLE stores OWNER TO vitrine_migrations;
ALTER TABLE technologies OWNER TO vitrine_migrations;
ALTER TABLE technology_losses OWNER TO vitrine_migrations;
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
ALTER TABLE usage_by_key OWNER TO vitrine_migrations;
ALTER TABLE usage_counters OWNER TO vitrine_migrations;
ALTER TABLE workspace_plans OWNER TO vitrine_migrations;
ALTER TABLE workspaces OWNER TO vitrine_migrations;
ALTER TABLE writer_statistics OWNER TO vitrine_migrations;


ALTER FUNCTION add_latencies(integer[],integer[]) OWNER TO vitrine_migrations;
ALTER FUNCTION admit_request(bytea[],text,uuid,jsonb,integer,integer) OWNER TO vitrine_migrations;
ALTER FUNCTION billing_period_start(integer,timestamp with time zone) OWNER TO vitrine_migrations;
ALTER FUNCTION keep_next_token_hash() OWNER TO vitrine_migrations;
ALTER FUNCTION keep_token_hash() OWNER TO vitrine_migrations;
ALTER FUNCTION lock_limits(text[]) OWNER TO vitrine_migrations;
ALTER FUNCTION make_ledger_partitions(integer) OWNER TO vitrine_migrations;
ALTER FUNCTION make_trace_partition(text,date) OWNER TO vitrine_migrations;
ALTER FUNCTION make_trace_partitions(integer) OWNER TO vitrine_migrations;
ALTER FUNCTION notify_plan_generation() OWNER TO vitrine_migrations;
ALTER FUNCTION raise_plan_generation() OWNER TO vitrine_migrations;
ALTER FUNCTION remove_expired_allotments(integer,integer) OWNER TO vitrine_migrations;
ALTER FUNCTION remove_old_quota_reservations(integer) OWNER TO vitrine_migrations;
ALTER FUNCTION remove_old_traces(timestamp with time zone,integer) OWNER TO vitrine_migrations;
ALTER FUNCTION report_quota_usage(uuid,bigint,date,integer,text[],text[],numeric[],numeric[],numeric[],numeric[],boolean) OWNER TO vitrine_migrations;
ALTER FUNCTION report_rate_allotments(uuid,bigint,integer,integer,text[],integer[],integer[],integer[],integer[],integer[]) OWNER TO vitrine_migrations;
ALTER FUNCTION stored_quota_usage(date,text,text,boolean) OWNER TO vitrine_migrations;
ALTER FUNCTION take_request_turn(text[],text,integer,integer,integer,integer) OWNER TO vitrine_migrations;
ALTER FUNCTION trace_partition_lock() OWNER TO vitrine_migrations;

GRANT USAGE ON SCHEMA public TO PUBLIC;
GRANT CREATE, USAGE ON SCHEMA public TO vitrine_migrations;
GRANT USAGE ON SCHEMA public TO vitrine_gateway;
GRANT USAGE ON SCHEMA public TO vitrine_trace_writer;
GRANT USAGE ON SCHEMA public TO vitrine_operator;
GRANT USAGE ON SCHEMA public TO vitrine_store_api;
GRANT USAGE ON SCHEMA public TO vitrine_enrich;

GRANT DELETE, INSERT, SELECT, UPDATE ON analyses TO vitrine_store_api;
GRANT SELECT, UPDATE ON analyses TO vitrine_enrich;
GRANT INSERT, SELECT, UPDATE ON api_keys TO vitrine_store_api;
GRANT DELETE, INSERT, SELECT ON audit_events TO vitrine_gateway;
GRANT INSERT, SELECT ON audit_events TO vitrine_operator;
GRANT DELETE, INSERT, SELECT, UPDATE ON background_responses TO vitrine_gateway;
GRANT DELETE, INSERT, SELECT, UPDATE ON background_responses TO vitrine_trace_writer;
GRANT DELETE, INSERT, SELECT, UPDATE ON brand_facts TO vitrine_enrich;
GRANT DELETE, INSERT, SELECT, UPDATE ON candidates TO vitrine_store_api;
GRANT DELETE, INSERT, SELECT, UPDATE ON day_usage TO vitrine_gateway;
GRANT DELETE, INSERT, SELECT, UPDATE ON day_usage TO vitrine_trace_writer;
GRANT INSERT, SELECT, UPDATE ON derivations TO vitrine_enrich;
GRANT DELETE, INSERT, SELECT, UPDATE ON domain_denylist TO vitrine_store_api;
GRANT SELECT ON domain_denylist TO vitrine_enrich;
GRANT DELETE, INSERT, SELECT ON evidence TO vitrine_store_api;
GRANT DELETE, INSERT, SELECT ON evidence_receipts TO vitrine_store_api;
GRANT SELECT ON gateway_key_store TO vitrine_gateway;
GRANT SELECT ON gateway_key_store TO vitrine_operator;
GRANT INSERT, SELECT, UPDATE ON gateway_keys TO vitrine_gateway;
GRANT INSERT, SELECT, UPDATE ON gateway_keys TO vitrine_operator;
GRANT DELETE, INSERT, SELECT, UPDATE ON idempotency_keys TO vitrine_store_api;
GRANT INSERT, SELECT ON ledger TO vitrine_store_api;
GRANT DELETE, INSERT, SELECT, UPDATE ON login_links TO vitrine_store_api;
GRANT DELETE, INSERT, SELECT, UPDATE ON members TO vitrine_store_api;
GRANT INSERT, SELECT ON observation_replays TO vitrine_enrich;
GRANT SELECT ON observations TO vitrine_store_api;
GRANT INSERT, SELECT ON observations TO vitrine_enrich;
GRANT SELECT, UPDATE ON operator_leadership TO vitrine_operator;
GRANT DELETE, INSERT, SELECT, UPDATE ON outbox TO vitrine_store_api;
GRANT DELETE, INSERT, SELECT, UPDATE ON outbox TO vitrine_enrich;
GRANT INSERT, SELECT ON pepper_fingerprints TO vitrine_gateway;
GRANT INSERT, SELECT ON pepper_fingerprints TO vitrine_operator;
GRANT INSERT, SELECT ON pepper_fingerprints TO vitrine_store_api;
GRANT SELECT ON plan_generation TO vitrine_gateway;
GRANT SELECT, UPDATE ON plan_generation TO vitrine_operator;
GRANT SELECT ON plans TO vitrine_gateway;
GRANT DELETE, INSERT, SELECT, UPDATE ON plans TO vitrine_operator;
GRANT SELECT ON plans TO vitrine_store_api;
GRANT DELETE, INSERT, SELECT, UPDATE ON quota_reservations TO vitrine_gateway;
GRANT DELETE, INSERT, SELECT, UPDATE ON rate_allotments TO vitrine_gateway;
GRANT DELETE, INSERT, SELECT, UPDATE ON rate_windows TO vitrine_store_api;
GRANT INSERT, SELECT, UPDATE ON registry_replays TO vitrine_enrich;
GRANT INSERT, SELECT ON removal_holds TO vitrine_enrich;
GRANT DELETE, INSERT, SELECT, UPDATE ON request_leases TO vitrine_store_api;
GRANT DELETE, INSERT, SELECT, UPDATE ON request_turns TO vitrine_enrich;
GRANT INSERT, SELECT, UPDATE ON retention_runs TO vitrine_gateway;
GRANT INSERT, SELECT, UPDATE ON retention_runs TO vitrine_trace_writer;
GRANT INSERT, SELECT, UPDATE ON retention_runs TO vitrine_store_api;
GRANT INSERT, SELECT, UPDATE ON retention_runs TO vitrine_enrich;
GRANT INSERT, SELECT ON rule_sets TO vitrine_enrich;
GRANT DELETE, INSERT, SELECT ON scan_jobs TO vitrine_store_api;
GRANT DELETE, INSERT, SELECT, UPDATE ON scan_jobs TO vitrine_enrich;
GRANT SELECT ON schema_migrations TO vitrine_gateway;
GRANT SELECT ON schema_migrations TO vitrine_trace_writer;
GRANT SELECT ON schema_migrations TO vitrine_operator;
GRANT SELECT ON schema_migrations TO vitrine_store_api;
GRANT SELECT ON schema_migrations TO vitrine_enrich;
GRANT SELECT ON signals TO vitrine_store_api;
GRANT INSERT, SELECT, UPDATE ON signals TO vitrine_enrich;
GRANT SELECT ON store_technologies TO vitrine_store_api;
GRANT DELETE, INSERT, SELECT, UPDATE ON store_technologies TO vitrine_enrich;
GRANT INSERT, SELECT, UPDATE ON stores TO vitrine_store_api;
GRANT INSERT, SELECT, UPDATE ON stores TO vitrine_enrich;
GRANT INSERT, SELECT, UPDATE ON technologies TO vitrine_store_api;
GRANT SELECT ON technologies TO vitrine_enrich;
GRANT DELETE, INSERT, SELECT ON technology_losses TO vitrine_enrich;
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
GRANT INSERT, SELECT, UPDATE ON usage_by_key TO vitrine_store_api;
GRANT INSERT, SELECT, UPDATE ON usage_counters TO vitrine_store_api;
GRANT SELECT ON workspace_plans TO vitrine_gateway;
GRANT DELETE, INSERT, SELECT, UPDATE ON workspace_plans TO vitrine_operator;
GRANT INSERT, SELECT, UPDATE ON workspaces TO vitrine_store_api;
GRANT DELETE, INSERT, SELECT, UPDATE ON writer_statistics TO vitrine_gateway;
GRANT DELETE, INSERT, SELECT, UPDATE ON writer_statistics TO vitrine_trace_writer;

GRANT EXECUTE ON FUNCTION add_latencies(integer[],integer[]) TO PUBLIC;
GRANT EXECUTE ON FUNCTION admit_request(bytea[],text,uuid,jsonb,integer,integer) TO vitrine_store_api;
GRANT EXECUTE ON FUNCTION billing_period_start(integer,timestamp with time zone) TO vitrine_store_api;
GRANT EXECUTE ON FUNCTION keep_next_token_hash() TO PUBLIC;
GRANT EXECUTE ON FUNCTION keep_token_hash() TO PUBLIC;
GRANT EXECUTE ON FUNCTION lock_limits(text[]) TO vitrine_gateway;
GRANT EXECUTE ON FUNCTION make_ledger_partitions(integer) TO vitrine_store_api;
GRANT EXECUTE ON FUNCTION make_trace_partitions(integer) TO vitrine_gateway;
GRANT EXECUTE ON FUNCTION make_trace_partitions(integer) TO vitrine_trace_writer;
GRANT EXECUTE ON FUNCTION notify_plan_generation() TO PUBLIC;
GRANT EXECUTE ON FUNCTION raise_plan_generation() TO PUBLIC;
GRANT EXECUTE ON FUNCTION remove_expired_allotments(integer,integer) TO vitrine_gateway;
GRANT EXECUTE ON FUNCTION remove_old_quota_reservations(integer) TO vitrine_gateway;
GRANT EXECUTE ON FUNCTION remove_old_traces(timestamp with time zone,integer) TO vitrine_gateway;
GRANT EXECUTE ON FUNCTION remove_old_traces(timestamp with time zone,integer) TO vitrine_trace_writer;
GRANT EXECUTE ON FUNCTION report_quota_usage(uuid,bigint,date,integer,text[],text[],numeric[],numeric[],numeric[],numeric[],boolean) TO vitrine_gateway;
GRANT EXECUTE ON FUNCTION report_rate_allotments(uuid,bigint,integer,integer,text[],integer[],integer[],integer[],integer[],integer[]) TO vitrine_gateway;
GRANT EXECUTE ON FUNCTION stored_quota_usage(date,text,text,boolean) TO vitrine_gateway;
GRANT EXECUTE ON FUNCTION take_request_turn(text[],text,integer,integer,integer,integer) TO vitrine_enrich;
