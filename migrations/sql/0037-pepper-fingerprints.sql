SET ROLE vitrine_migrations;

-- Which pepper a version names. Written with the first hash under that version, and never changed: a process whose pepper has another
-- fingerprint cannot verify stored tokens, and must not store new ones.
CREATE TABLE pepper_fingerprints (
  purpose text COLLATE "C" NOT NULL CHECK (purpose IN ('gateway_keys', 'api_keys')),
  pepper_version integer NOT NULL,
  pepper_fingerprint text COLLATE "C" NOT NULL CHECK (pepper_fingerprint ~ '^[0-9a-f]{16}$'),
  recorded_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (purpose, pepper_version)
);
COMMENT ON COLUMN pepper_fingerprints.pepper_fingerprint IS 'of a fixed text under the pepper: verifies no token';
COMMENT ON COLUMN pepper_fingerprints.purpose IS 'whose tokens: those of gateway_keys, or those of api_keys and login_links';

-- How many hashes use a version is counted every 30 s.
CREATE INDEX api_keys_by_pepper ON api_keys (pepper_version, expires_at) WHERE revoked_at IS NULL;

GRANT SELECT, INSERT ON pepper_fingerprints TO vitrine_gateway, vitrine_operator, vitrine_store_api;

RESET ROLE;
