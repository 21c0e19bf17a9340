SET ROLE vitrine_migrations;

-- Who runs a scan job, how often it was tried, and when anybody may take it.
ALTER TABLE scan_jobs
  ADD attempts integer NOT NULL DEFAULT 0,
  ADD lease_id text COLLATE "C",
  ADD due_at timestamptz(3);
CREATE INDEX scan_jobs_due ON scan_jobs (due_at) WHERE status IN ('queued', 'running') AND due_at IS NOT NULL;
CREATE INDEX scan_jobs_undelivered ON scan_jobs (queued_at) WHERE status = 'queued' AND due_at IS NULL;
COMMENT ON COLUMN scan_jobs.attempts IS 'attempts that began, without those that were put off or handed back';
COMMENT ON COLUMN scan_jobs.lease_id IS 'of the process that runs it; only the holder may end the job';
COMMENT ON COLUMN scan_jobs.due_at IS 'from then on any process may take it: the end of the lease while it runs, its next attempt while it waits; NULL: its message has not come';

-- When a storefront is scanned again without being asked for.
ALTER TABLE stores ADD next_scan_at timestamptz(3) NOT NULL DEFAULT now();
CREATE INDEX stores_rescan_active ON stores (next_scan_at) WHERE state = 'active_storefront';
CREATE INDEX stores_rescan_others ON stores (next_scan_at) WHERE state <> 'active_storefront';
COMMENT ON COLUMN stores.next_scan_at IS 'from then on the scheduler queues a routine scan';

RESET ROLE;
