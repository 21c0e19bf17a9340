SET ROLE vitrine_migrations;

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
  revoked_at timestamptz(3)
);
CREATE INDEX gateway_keys_active ON gateway_keys (created_at, id) WHERE revoked_at IS NULL;
COMMENT ON COLUMN gateway_keys.revision IS 'of the last change; given under an advisory lock, so that revisions are committed in order';
COMMENT ON COLUMN gateway_keys.changed_by IS 'the process that made the last change, which need not be notified of it';

-- Every hash that a token has or ever had. A trigger fills it, so that no program can forget one.
CREATE TABLE token_hashes (
  token_mac bytea NOT NULL PRIMARY KEY,
  pepper_version integer NOT NULL,
  key_id text COLLATE "C" NOT NULL
);
CREATE FUNCTION keep_token_hash() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  INSERT INTO public.token_hashes VALUES (NEW.token_mac, NEW.pepper_version, NEW.id);
  RETURN NULL;
END
$$;
CREATE TRIGGER gateway_keys_created AFTER INSERT ON gateway_keys FOR EACH ROW EXECUTE FUNCTION keep_token_hash();
CREATE TRIGGER gateway_keys_rotated AFTER UPDATE OF token_mac ON gateway_keys FOR EACH ROW
  WHEN (NEW.token_mac <> OLD.token_mac) EXECUTE FUNCTION keep_token_hash();

-- One row: its id identifies the data, so that another database in its place is noticed.
CREATE TABLE gateway_key_store (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  is_only boolean NOT NULL DEFAULT true PRIMARY KEY CHECK (is_only)
);
INSERT INTO gateway_key_store DEFAULT VALUES;

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

CREATE TABLE plans (
  name text COLLATE "C" NOT NULL PRIMARY KEY,
  limits jsonb NOT NULL,
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);
COMMENT ON COLUMN plans.limits IS 'thresholds as in the configuration: {"per_key": {...}, "per_workspace": {...}}';

CREATE TABLE workspace_plans (
  org_id text COLLATE "C" NOT NULL,
  workspace_id text COLLATE "C" NOT NULL,
  plan text COLLATE "C" NOT NULL REFERENCES plans (name),
  PRIMARY KEY (org_id, workspace_id)
);

GRANT SELECT, INSERT, UPDATE ON gateway_keys TO vitrine_gateway, vitrine_operator;
GRANT SELECT, INSERT ON token_hashes TO vitrine_gateway, vitrine_operator;
GRANT SELECT ON gateway_key_store TO vitrine_gateway, vitrine_operator;
GRANT SELECT, INSERT, DELETE ON audit_events TO vitrine_gateway;
GRANT SELECT, INSERT ON audit_events TO vitrine_operator;
GRANT SELECT ON plans, workspace_plans TO vitrine_gateway;
GRANT SELECT, INSERT, UPDATE, DELETE ON plans, workspace_plans TO vitrine_operator;

RESET ROLE;
