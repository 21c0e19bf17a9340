SET ROLE vitrine_migrations;

-- While the operator rotates the token of a key, the next token is accepted before it is published, and the previous one until
-- `previous_until`.
CREATE TABLE gateway_keys (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  org_id text COLLATE "C" NOT NULL,
  workspace_id text COLLATE "C" NOT NULL,
  name text,
  description text,
  created_by text,
  role text NOT NULL,
  permissions text[] NOT NULL,
  plan text,
  created_at timestamptz(3) NOT NULL,
  last_used_at timestamptz(3),
  managed_by text,
  managed_resource text,
  pepper_version integer NOT NULL,
  token_mac bytea NOT NULL UNIQUE,
  revision bigint NOT NULL UNIQUE,
  changed_by text COLLATE "C" NOT NULL,
  revoked_at timestamptz(3),
  owner_uid text COLLATE "C",
  next_pepper_version integer,
  next_token_mac bytea,
  previous_pepper_version integer,
  previous_token_mac bytea,
  previous_until timestamptz(3)
);
CREATE INDEX gateway_keys_active ON gateway_keys (created_at, id) WHERE revoked_at IS NULL;
-- Whether a plan is in use: few keys have one.
CREATE INDEX gateway_keys_by_plan ON gateway_keys (plan) WHERE plan IS NOT NULL AND revoked_at IS NULL;
COMMENT ON TABLE gateway_keys IS 'keys of gateway clients, also revoked ones';
COMMENT ON COLUMN gateway_keys.revision IS 'of the last change; given under an advisory lock, so that revisions are committed in order';
COMMENT ON COLUMN gateway_keys.changed_by IS 'the process that made the last change, which need not be notified of it';
COMMENT ON COLUMN gateway_keys.owner_uid IS 'of the GatewayKey resource: nothing else may change or revoke the row';

CREATE TABLE token_hashes (
  token_mac bytea NOT NULL PRIMARY KEY,
  pepper_version integer NOT NULL,
  key_id text COLLATE "C" NOT NULL
);
COMMENT ON TABLE token_hashes IS 'every hash that a token of a gateway key has or ever had: none is given to another key';

-- Triggers fill token_hashes, so that no program can leave a hash out. A key whose next token becomes its token has that hash already, and so
-- has a key whose row was deleted by hand and created again by the operator.
CREATE FUNCTION keep_token_hash() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM public.token_hashes WHERE token_mac = NEW.token_mac AND key_id = NEW.id) THEN
    INSERT INTO public.token_hashes VALUES (NEW.token_mac, NEW.pepper_version, NEW.id);
  END IF;
  RETURN NULL;
END
$$;
CREATE FUNCTION keep_next_token_hash() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  INSERT INTO public.token_hashes VALUES (NEW.next_token_mac, NEW.next_pepper_version, NEW.id);
  RETURN NULL;
END
$$;
CREATE TRIGGER gateway_keys_created AFTER INSERT ON gateway_keys FOR EACH ROW EXECUTE FUNCTION keep_token_hash();
CREATE TRIGGER gateway_keys_rotated AFTER UPDATE OF token_mac ON gateway_keys FOR EACH ROW
  WHEN (NEW.token_mac <> OLD.token_mac) EXECUTE FUNCTION keep_token_hash();
CREATE TRIGGER gateway_keys_staged AFTER UPDATE OF next_token_mac ON gateway_keys FOR EACH ROW
  WHEN (NEW.next_token_mac IS NOT NULL AND NEW.next_token_mac IS DISTINCT FROM OLD.next_token_mac)
  EXECUTE FUNCTION keep_next_token_hash();

CREATE TABLE gateway_key_store (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  is_only boolean NOT NULL DEFAULT true PRIMARY KEY CHECK (is_only)
);
INSERT INTO gateway_key_store DEFAULT VALUES;
COMMENT ON TABLE gateway_key_store IS 'one row: its id identifies the data, so that another database in its place is noticed';

-- Written with the first hash under a version, and never changed: a process whose pepper has another fingerprint cannot verify stored tokens,
-- and must not store new ones.
CREATE TABLE pepper_fingerprints (
  purpose text COLLATE "C" NOT NULL CHECK (purpose IN ('gateway_keys', 'api_keys')),
  pepper_version integer NOT NULL,
  pepper_fingerprint text COLLATE "C" NOT NULL CHECK (pepper_fingerprint ~ '^[0-9a-f]{16}$'),
  recorded_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (purpose, pepper_version)
);
COMMENT ON TABLE pepper_fingerprints IS 'which pepper each version names';
COMMENT ON COLUMN pepper_fingerprints.pepper_fingerprint IS 'of a fixed text under the pepper: verifies no token';
COMMENT ON COLUMN pepper_fingerprints.purpose IS 'whose tokens: those of gateway_keys, or those of api_keys and login_links';

CREATE TABLE audit_events (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz(3) NOT NULL,
  actor text COLLATE "C" NOT NULL,
  action text COLLATE "C" NOT NULL,
  target text NOT NULL,
  outcome text COLLATE "C" NOT NULL,
  reason text NOT NULL,
  correlation_id text NOT NULL,
  org_id text COLLATE "C" NOT NULL,
  workspace_id text COLLATE "C" NOT NULL
);
CREATE INDEX audit_events_of_tenant ON audit_events (org_id, workspace_id, at, number);
CREATE INDEX audit_events_by_time ON audit_events (at, number);
COMMENT ON TABLE audit_events IS 'who changed gateway keys, or was refused';

GRANT SELECT, INSERT, UPDATE ON gateway_keys TO vitrine_gateway, vitrine_operator;
GRANT SELECT, INSERT ON token_hashes TO vitrine_gateway, vitrine_operator;
GRANT SELECT ON gateway_key_store TO vitrine_gateway, vitrine_operator;
GRANT SELECT, INSERT ON pepper_fingerprints TO vitrine_gateway, vitrine_operator, vitrine_store_api;
GRANT SELECT, INSERT, DELETE ON audit_events TO vitrine_gateway;
GRANT SELECT, INSERT ON audit_events TO vitrine_operator;

RESET ROLE;
