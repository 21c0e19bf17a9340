SET ROLE vitrine_migrations;

CREATE TABLE evidence (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  source_url text NOT NULL,
  captured_at timestamptz(3) NOT NULL,
  received_at timestamptz(3) NOT NULL,
  document jsonb NOT NULL
);
CREATE INDEX evidence_by_time ON evidence (received_at);
COMMENT ON TABLE evidence IS 'captures that claim relationships between stores and technologies';

CREATE TABLE evidence_receipts (
  idempotency_key text COLLATE "C" NOT NULL PRIMARY KEY,
  fingerprint bytea NOT NULL,
  receipt text NOT NULL,
  created_at timestamptz(3) NOT NULL
);
CREATE INDEX evidence_receipts_by_time ON evidence_receipts (created_at);
COMMENT ON TABLE evidence_receipts IS 'answers to evidence that was sent, for retries';
COMMENT ON COLUMN evidence_receipts.receipt IS 'JSON as it was returned, for retries';

CREATE TABLE candidates (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  evidence_id text COLLATE "C" REFERENCES evidence ON DELETE SET NULL,
  domain text COLLATE "C",
  technology_slug text COLLATE "C" REFERENCES technologies,
  claim text NOT NULL,
  source_url text NOT NULL,
  captured_at timestamptz(3) NOT NULL,
  status text COLLATE "C" NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'resolved', 'rejected')),
  received_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX candidates_by_status ON candidates (status, id);
CREATE INDEX candidates_of_evidence ON candidates (evidence_id);
CREATE INDEX candidates_of_domain ON candidates (domain, id);
CREATE INDEX candidates_by_time ON candidates (received_at);
COMMENT ON TABLE candidates IS 'single claims of evidence, and what became of them';

GRANT SELECT, INSERT, DELETE ON evidence, evidence_receipts TO vitrine_store_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON candidates TO vitrine_store_api;

RESET ROLE;
