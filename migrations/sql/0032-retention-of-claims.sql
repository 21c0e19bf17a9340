SET ROLE vitrine_migrations;

-- Candidates and receipts go with the evidence that they are of.
ALTER TABLE candidates ADD received_at timestamptz(3) NOT NULL DEFAULT now();
UPDATE candidates c SET received_at = e.received_at FROM evidence e WHERE e.id = c.evidence_id;
CREATE INDEX candidates_by_time ON candidates (received_at);
CREATE INDEX evidence_receipts_by_time ON evidence_receipts (created_at);

GRANT DELETE ON candidates TO vitrine_store_api;

RESET ROLE;
