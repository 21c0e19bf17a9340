SET ROLE vitrine_migrations;

-- `created_at` is the time inside `operation_id`, so that the primary key finds an operation that is billed twice.
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
COMMENT ON TABLE ledger_default IS 'rows of months without a partition: a clock was wrong, or nothing has created it yet';
COMMENT ON TABLE ledger IS 'every billed unit is a row, which nobody may change; in partitions of a month in UTC, called ledger_202601';
COMMENT ON COLUMN ledger.operation_id IS 'made by the server for each request that is billed';
COMMENT ON COLUMN ledger.period_starts_at IS 'the billing period that paid';

-- Makes the partitions of this month and of `months_ahead` months from now on, and moves rows of the default partition into them, under the locks
-- of make_trace_partition. Returns the number of months that had none; any replica may call it.
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

CREATE TABLE usage_counters (
  workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces,
  starts_at timestamptz(3) NOT NULL,
  lookup_cached bigint NOT NULL DEFAULT 0,
  lookup_live bigint NOT NULL DEFAULT 0,
  history_query bigint NOT NULL DEFAULT 0,
  refresh_requested bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (workspace_id, starts_at)
) WITH (fillfactor = 50);
COMMENT ON TABLE usage_counters IS 'what a workspace has consumed in a billing period; changed in the transactions that write the ledger';

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
COMMENT ON TABLE usage_by_key IS 'the same, by key';

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
COMMENT ON TABLE idempotency_keys IS 'responses to requests with an Idempotency-Key, for retries';
COMMENT ON COLUMN idempotency_keys.fingerprint IS 'SHA-256 of operation, canonical path and canonical body';
COMMENT ON COLUMN idempotency_keys.body IS 'the response as it was sent; with request_id, status and etag it is the whole replay';

GRANT SELECT, INSERT ON ledger TO vitrine_store_api;
GRANT SELECT, INSERT, UPDATE ON usage_counters, usage_by_key TO vitrine_store_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON idempotency_keys TO vitrine_store_api;
REVOKE EXECUTE ON FUNCTION make_ledger_partitions(integer), billing_period_start(integer, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION make_ledger_partitions(integer), billing_period_start(integer, timestamptz) TO vitrine_store_api;

RESET ROLE;
