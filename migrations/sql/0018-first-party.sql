SET ROLE vitrine_migrations;

-- Links that sign a member in once.
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
COMMENT ON COLUMN login_links.token_mac IS 'HMAC-SHA-256 of the token under the pepper of pepper_version';

CREATE INDEX candidates_of_domain ON candidates (domain, id);

-- The result of an analysis is the store itself.
ALTER TABLE analyses DROP COLUMN result;
CREATE INDEX analyses_by_time ON analyses (created_at);

GRANT SELECT, INSERT, UPDATE, DELETE ON login_links TO vitrine_store_api;
GRANT DELETE ON analyses TO vitrine_store_api;
-- An analysis holds the job that it waits for until it is committed, and a row lock needs the right to change a column.
GRANT UPDATE (error) ON scan_jobs TO vitrine_store_api;

RESET ROLE;
