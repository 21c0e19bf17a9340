SET ROLE vitrine_migrations;

-- Both tables are unlogged: after a crash of the server they begin anew, and admission, which writes only here, does not wait for the disk.
CREATE UNLOGGED TABLE rate_windows (
  key_id text COLLATE "C" NOT NULL PRIMARY KEY,
  starts_at timestamptz(3) NOT NULL,
  requests integer NOT NULL
) WITH (fillfactor = 50);
COMMENT ON TABLE rate_windows IS 'requests of each store API key in its current minute';

CREATE UNLOGGED TABLE request_leases (
  key_id text COLLATE "C" NOT NULL,
  slot integer NOT NULL,
  lease_id uuid NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  PRIMARY KEY (key_id, slot)
) WITH (fillfactor = 50);
COMMENT ON TABLE request_leases IS 'requests of each store API key in flight';
COMMENT ON COLUMN request_leases.slot IS 'from 0; rows stay and are used again, because rows that come and go leave dead ones for every count to pass';
COMMENT ON COLUMN request_leases.expires_at IS 'the slot is free from then on: at once when its request ends, after the lease when its process has died';

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
$$;

GRANT SELECT, INSERT, UPDATE, DELETE ON rate_windows, request_leases TO vitrine_store_api;
REVOKE EXECUTE ON FUNCTION admit_request(bytea[], text, uuid, jsonb, integer, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION admit_request(bytea[], text, uuid, jsonb, integer, integer) TO vitrine_store_api;

RESET ROLE;
