CREATE TABLE traces (id TEXT NOT NULL, org_id TEXT NOT NULL, workspace_id TEXT NOT NULL, gateway_key_id TEXT NOT NULL, role TEXT NOT NULL, timestamp INTEGER NOT NULL, created_at INTEGER NOT NULL, provider TEXT NOT NULL, model TEXT NOT NULL, request_method TEXT NOT NULL, request_path TEXT NOT NULL, response_status INTEGER NOT NULL, outcome TEXT NOT NULL, input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, total_tokens INTEGER NOT NULL, usage_status TEXT NOT NULL, latency_ms INTEGER NOT NULL, time_to_first_token_us INTEGER NOT NULL, api_key_hash TEXT, estimated_cost_usd REAL NOT NULL, cost_status TEXT NOT NULL, cost_upper_usd REAL, response_model TEXT, trace_group_id TEXT, group_fallback INTEGER, thread_id TEXT, run_id TEXT, parent_checkpoint_id TEXT, checkpoint_seq INTEGER, PRIMARY KEY (id)) STRICT, WITHOUT ROWID;
CREATE TABLE trace_bodies (id TEXT NOT NULL, request_headers TEXT NOT NULL, response_headers TEXT NOT NULL, request_body TEXT, response_body TEXT, metadata TEXT NOT NULL, PRIMARY KEY (id)) STRICT, WITHOUT ROWID;
CREATE INDEX traces_by_tenant ON traces (org_id, workspace_id, id);
CREATE INDEX traces_by_provider ON traces (provider, id);
CREATE INDEX traces_by_model ON traces (model, id);
CREATE INDEX traces_by_credential ON traces (api_key_hash, id) WHERE api_key_hash IS NOT NULL;
CREATE INDEX traces_by_status ON traces (response_status, id) WHERE response_status <> 200;
CREATE INDEX traces_by_usage_status ON traces (usage_status, id) WHERE usage_status <> 'reported';
CREATE INDEX traces_by_cost_status ON traces (cost_status, id) WHERE cost_status <> 'priced';
CREATE INDEX traces_by_tokens ON traces ((length(total_tokens) * 10 + substr(total_tokens, 1, 1)), id);
CREATE INDEX traces_by_group ON traces (trace_group_id, id) WHERE trace_group_id IS NOT NULL;
CREATE INDEX traces_by_thread ON traces (thread_id, id) WHERE thread_id IS NOT NULL;
CREATE INDEX traces_by_run ON traces (run_id, id) WHERE run_id IS NOT NULL;
CREATE TABLE trace_sums (
    level TEXT NOT NULL CHECK (level IN ('key_hour','key_day','model_hour','model_day','all_hour','all_day')),
    org_id TEXT NOT NULL,
    workspace_id TEXT NOT NULL,
    bucket_start INTEGER NOT NULL,
    gateway_key_id TEXT NOT NULL,
    api_key_hash TEXT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    requests INTEGER NOT NULL,
    rejected INTEGER NOT NULL DEFAULT 0,
    unpriced INTEGER NOT NULL DEFAULT 0,
    estimated INTEGER NOT NULL DEFAULT 0,
    missing_usage INTEGER NOT NULL DEFAULT 0,
    errors_4xx INTEGER NOT NULL,
    errors_5xx INTEGER NOT NULL,
    streams INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    total_tokens INTEGER NOT NULL,
    cost_thousands INTEGER NOT NULL,
    cost_pico INTEGER NOT NULL,
    upper_thousands INTEGER NOT NULL DEFAULT 0,
    upper_pico INTEGER NOT NULL DEFAULT 0,
    latency_ms INTEGER NOT NULL,
    latency_ms_min INTEGER NOT NULL,
    latency_ms_max INTEGER NOT NULL,
    first_token_us INTEGER NOT NULL,
    last_active_at INTEGER NOT NULL,
    first_created_at INTEGER NOT NULL,
    last_created_at INTEGER NOT NULL,
    latencies TEXT NOT NULL,
    PRIMARY KEY (level, org_id, workspace_id, bucket_start, gateway_key_id, api_key_hash, provider, model)
  ) STRICT, WITHOUT ROWID;
CREATE TABLE day_usage (
    day TEXT NOT NULL,
    org_id TEXT NOT NULL,
    workspace_id TEXT NOT NULL,
    gateway_key_id TEXT NOT NULL,
    requests INTEGER NOT NULL,
    total_tokens INTEGER NOT NULL,
    estimated_tokens INTEGER NOT NULL DEFAULT 0,
    cost_thousands INTEGER NOT NULL,
    cost_pico INTEGER NOT NULL,
    upper_thousands INTEGER NOT NULL DEFAULT 0,
    upper_pico INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (day, org_id, workspace_id, gateway_key_id)
  ) STRICT, WITHOUT ROWID;
CREATE TABLE background_responses (
    org_id TEXT NOT NULL,
    workspace_id TEXT NOT NULL,
    response BLOB NOT NULL,
    gateway_key_id TEXT NOT NULL,
    role TEXT NOT NULL,
    model TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    counted INTEGER NOT NULL,
    PRIMARY KEY (org_id, workspace_id, response)
  ) STRICT, WITHOUT ROWID;
CREATE INDEX background_responses_by_time ON background_responses (created_at);
CREATE TABLE totals (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
PRAGMA user_version = 6;
