SET ROLE vitrine_migrations;

CREATE TABLE workspaces (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  name text NOT NULL,
  plan text COLLATE "C" NOT NULL CHECK (plan IN ('free', 'pro', 'growth', 'partner')),
  anchor_day smallint NOT NULL CHECK (anchor_day BETWEEN 1 AND 31),
  gateway_org_id text COLLATE "C" NOT NULL,
  gateway_workspace_id text COLLATE "C" NOT NULL,
  created_at timestamptz(3) NOT NULL
);
COMMENT ON TABLE workspaces IS 'customers of the store API';
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
COMMENT ON TABLE members IS 'people of a workspace';
COMMENT ON COLUMN members.subject IS 'of the issuer; NULL until the first sign-in';

CREATE TABLE login_links (
  token_mac bytea NOT NULL PRIMARY KEY,
  pepper_version integer NOT NULL,
  workspace_id text COLLATE "C" NOT NULL,
  email text COLLATE "C" NOT NULL,
  created_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  used_at timestamptz(3),
  FOREIGN KEY (workspace_id, email) REFERENCES members ON DELETE CASCADE
);
CREATE INDEX login_links_of_member ON login_links (workspace_id, email);
CREATE INDEX login_links_by_expiry ON login_links (expires_at);
COMMENT ON TABLE login_links IS 'links that sign a member in once';
COMMENT ON COLUMN login_links.token_mac IS 'HMAC-SHA-256 of the token under the pepper of pepper_version';

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
CREATE INDEX api_keys_by_pepper ON api_keys (pepper_version, expires_at) WHERE revoked_at IS NULL;
COMMENT ON TABLE api_keys IS 'keys of the store API, also expired and revoked ones';
COMMENT ON COLUMN api_keys.prefix IS 'tag and first four characters of the secret';
COMMENT ON COLUMN api_keys.token_mac IS 'HMAC-SHA-256 of the token under the pepper of pepper_version';

GRANT SELECT, INSERT, UPDATE ON workspaces, members, api_keys TO vitrine_store_api;
GRANT DELETE ON members TO vitrine_store_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON login_links TO vitrine_store_api;

RESET ROLE;
