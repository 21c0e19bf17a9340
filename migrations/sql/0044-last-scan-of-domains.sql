SET ROLE vitrine_migrations;

-- The last scan of a domain is part of its enrich result.
CREATE INDEX scan_jobs_last_of_domain ON scan_jobs (domain, finished_at DESC) WHERE finished_at IS NOT NULL;

RESET ROLE;
