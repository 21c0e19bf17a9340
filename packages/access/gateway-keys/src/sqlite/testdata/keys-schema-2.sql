CREATE TABLE gateway_keys (
     id TEXT NOT NULL PRIMARY KEY,
     org_id TEXT NOT NULL,
     workspace_id TEXT NOT NULL,
     name TEXT,
     description TEXT,
     created_by TEXT,
     role TEXT NOT NULL,
     permissions TEXT NOT NULL,
     plan TEXT,
     created_at INTEGER NOT NULL,
     last_used_at INTEGER,
     managed_by TEXT,
     managed_resource TEXT,
     pepper_version INTEGER NOT NULL,
     token_mac BLOB NOT NULL,
     revision INTEGER NOT NULL,
     revoked_at INTEGER
   ) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX gateway_keys_token_mac ON gateway_keys (token_mac);
CREATE UNIQUE INDEX gateway_keys_revision ON gateway_keys (revision);
CREATE INDEX gateway_keys_active ON gateway_keys (created_at, id) WHERE revoked_at IS NULL;
CREATE TABLE audit_events (
     number INTEGER PRIMARY KEY,
     at INTEGER NOT NULL,
     actor TEXT NOT NULL,
     action TEXT NOT NULL,
     target TEXT NOT NULL,
     outcome TEXT NOT NULL,
     reason TEXT NOT NULL,
     correlation_id TEXT NOT NULL,
     org_id TEXT NOT NULL,
     workspace_id TEXT NOT NULL
   ) STRICT;
CREATE TABLE token_hashes (
     token_mac BLOB NOT NULL PRIMARY KEY,
     pepper_version INTEGER NOT NULL,
     key_id TEXT NOT NULL
   ) STRICT, WITHOUT ROWID;
CREATE TRIGGER gateway_keys_created AFTER INSERT ON gateway_keys BEGIN
     INSERT INTO token_hashes VALUES (NEW.token_mac, NEW.pepper_version, NEW.id);
   END;
CREATE TRIGGER gateway_keys_rotated AFTER UPDATE OF token_mac ON gateway_keys WHEN NEW.token_mac <> OLD.token_mac BEGIN
     INSERT INTO token_hashes VALUES (NEW.token_mac, NEW.pepper_version, NEW.id);
   END;
CREATE INDEX audit_events_of_tenant ON audit_events (org_id, workspace_id, at, number, actor, action, outcome);
CREATE INDEX audit_events_by_time ON audit_events (at);
PRAGMA user_version = 2;
