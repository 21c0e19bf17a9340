/** Every key that a file of ongoingai/gateway (f56ac42) may have, with a value of its kind. JSON is YAML as well. */
export const OLD_CONFIG = {
  server: { host: '0.0.0.0', port: 8080 },
  storage: { driver: 'sqlite', path: './data/ongoingai.db', dsn: 'postgres://u:p@localhost/ongoingai' },
  providers: {
    openai: { upstream: 'https://api.openai.com', prefix: '/openai' },
    anthropic: { upstream: 'https://api.anthropic.com', prefix: '/anthropic' },
  },
  tracing: { capture_bodies: false, body_max_size: 1_048_576 },
  observability: {
    otel: {
      enabled: false,
      endpoint: 'localhost:4318',
      insecure: true,
      service_name: 'ongoingai-gateway',
      traces_enabled: true,
      metrics_enabled: true,
      prometheus_enabled: false,
      prometheus_path: '/metrics',
      sampling_ratio: 1,
      export_timeout_ms: 3_000,
      metric_export_interval_ms: 10_000,
    },
  },
  pii: {
    mode: '',
    policy_id: 'default/v1',
    stages: { request_headers: true, request_body: true, response_headers: true, response_body: true },
    detectors: { email: true, phone: true, ssn: true, token_like: true },
    headers: { denylist: ['authorization', 'cookie', 'set-cookie', 'x-api-key', 'x-ongoingai-gateway-key'] },
    body: { key_denylist: ['email', 'phone', 'password', 'token', 'secret', 'ssn', 'api_key', 'authorization'] },
    replacement: { format: '[{type}_REDACTED:{hash}]', hash_salt: '' },
    scopes: [
      {
        match: {
          org_id: 'acme',
          workspace_id: 'search',
          key_id: 'k1',
          provider: 'openai',
          route_prefix: '/openai/v1/chat',
        },
        mode: 'block',
        policy_id: 'acme/v1',
      },
    ],
  },
  auth: {
    enabled: false,
    header: 'X-OngoingAI-Gateway-Key',
    keys: [
      {
        id: 'k1',
        token: 'ogk_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
        org_id: 'acme',
        workspace_id: 'search',
        team: 'search',
        name: 'first',
        description: 'the first',
        created_by: 'somebody',
        role: 'developer',
        permissions: ['proxy:write', 'analytics:read'],
      },
    ],
  },
  limits: {
    per_key: { requests_per_minute: 60, max_tokens_per_day: 1_000, max_cost_usd_per_day: 1.5 },
    per_workspace: { requests_per_minute: 600, max_tokens_per_day: 10_000, max_cost_usd_per_day: 15 },
  },
};
