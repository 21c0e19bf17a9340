import { describe, expect, test } from '@jest/globals';
import { messageOf } from '@vitrine/faults/fault';
import { readGatewayConfig } from '../config.ts';
import { OLD_KEYS, OLD_VARIABLES, oldVariablesIn } from './old-names.ts';

// Every key that a file of ongoingai/gateway (f56ac42) may have, with a value of its kind.
const OLD_FILE = `
server: { host: 0.0.0.0, port: 8080 }
storage: { driver: sqlite, path: ./data/ongoingai.db, dsn: "postgres://u:p@localhost/ongoingai" }
providers:
  openai: { upstream: https://api.openai.com, prefix: /openai }
  anthropic: { upstream: https://api.anthropic.com, prefix: /anthropic }
tracing: { capture_bodies: false, body_max_size: 1048576 }
observability:
  otel:
    enabled: false
    endpoint: localhost:4318
    insecure: true
    service_name: ongoingai-gateway
    traces_enabled: true
    metrics_enabled: true
    prometheus_enabled: false
    prometheus_path: /metrics
    sampling_ratio: 1.0
    export_timeout_ms: 3000
    metric_export_interval_ms: 10000
pii:
  mode: ""
  policy_id: default/v1
  stages: { request_headers: true, request_body: true, response_headers: true, response_body: true }
  detectors: { email: true, phone: true, ssn: true, token_like: true }
  headers: { denylist: [authorization, cookie, set-cookie, x-api-key, x-ongoingai-gateway-key] }
  body: { key_denylist: [email, phone, password, token, secret, ssn, api_key, authorization] }
  replacement: { format: "[{type}_REDACTED:{hash}]", hash_salt: "" }
  scopes:
    - match: { org_id: acme, workspace_id: search, key_id: k1, provider: openai, route_prefix: /openai/v1/chat }
      mode: block
      policy_id: acme/v1
auth:
  enabled: false
  header: X-OngoingAI-Gateway-Key
  keys:
    - id: k1
      token: ogk_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
      org_id: acme
      workspace_id: search
      team: search
      name: first
      description: the first
      created_by: somebody
      role: developer
      permissions: [proxy:write, analytics:read]
limits:
  per_key: { requests_per_minute: 60, max_tokens_per_day: 1000, max_cost_usd_per_day: 1.5 }
  per_workspace: { requests_per_minute: 600, max_tokens_per_day: 10000, max_cost_usd_per_day: 15 }
`;
const CHANGED_LINES = [/, dsn: "[^"]*"/, /\n {2}stages:.*/, /\n {6}team:.*/, /\n {6}created_by:.*/];

function faultsOf(text: string): string[] {
  try {
    readGatewayConfig({ path: 'ongoingai.yaml', text }, {});
    return [];
  } catch (error) {
    return messageOf(error).split('\n').slice(1);
  }
}

describe("the old gateway's YAML", () => {
  test('an unknown key of its own is refused with what takes its place', () => {
    expect(faultsOf(OLD_FILE).toSorted()).toEqual([
      '  auth.keys.0.created_by: unknown key: it was a key of ongoingai/gateway; leave it out: keys of the file were made by system',
      '  auth.keys.0.team: unknown key: it was a key of ongoingai/gateway; use auth.keys[].workspace_id',
      '  pii.stages: unknown key: it was a key of ongoingai/gateway; leave it out: headers and bodies of both directions are always looked at',
      '  storage.dsn: unknown key: it was a key of ongoingai/gateway; there is none here: traces are kept in SQLite, at storage.path',
    ]);
    expect(Object.keys(OLD_KEYS)).toHaveLength(4);
  });

  test('every other key of it is read as it is, its empty mode and salt too', () => {
    const text = CHANGED_LINES.reduce((changed, line) => changed.replace(line, ''), OLD_FILE);
    expect(faultsOf(text)).toEqual([]);
    const config = readGatewayConfig({ path: 'ongoingai.yaml', text }, {});
    expect(config.pii.mode).toBeUndefined();
    expect(config.pii.replacement.hash_salt).toBeUndefined();
    expect(config.auth.header).toBe('X-OngoingAI-Gateway-Key');
    expect(config.auth.keys[0]?.token.reveal()).toBe('ogk_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA');
  });

  test('a key that neither has is just unknown', () => {
    expect(faultsOf('storage: { pat: x }')).toEqual(['  storage.pat: unknown key']);
  });
});

describe("the old gateway's variables", () => {
  test('those that are set are named with their successors, and no value is', () => {
    const found = oldVariablesIn({
      ONGOINGAI_PORT: '9',
      ONGOINGAI_STORAGE_DSN: 'postgres://u:secret@h',
      ONGOINGAI_NEW: 'x',
      HOME: '/',
    });
    expect(found).toEqual({
      ONGOINGAI_NEW: 'none',
      ONGOINGAI_PORT: 'SVC_SERVER_PORT',
      ONGOINGAI_STORAGE_DSN: 'none: traces are kept in SQLite, at SVC_STORAGE_PATH',
    });
  });

  const VALUES: Readonly<Record<string, string>> = {
    SVC_SERVER_PORT: '9090',
    SVC_STORAGE_DRIVER: 'sqlite',
    SVC_PROVIDERS_OPENAI_UPSTREAM: 'http://a',
    SVC_PROVIDERS_ANTHROPIC_UPSTREAM: 'http://b',
    SVC_TRACING_CAPTURE_BODIES: 'true',
    SVC_TRACING_BODY_MAX_SIZE: '1024',
    SVC_PROMETHEUS_ENABLED: 'true',
    SVC_PROMETHEUS_PATH: '/scrape',
    SVC_PII_MODE: 'block',
    SVC_AUTH_ENABLED: 'true',
    SVC_AUTH_HEADER: 'X-Internal-Key',
  };
  const successors = Object.values(OLD_VARIABLES).flatMap((text) => /^SVC_\w+/.exec(text)?.[0] ?? []);

  test.each(successors)('%s is a variable of this gateway', (name) => {
    expect(() => readGatewayConfig(undefined, { [name]: VALUES[name] ?? 'text' })).not.toThrow();
  });
});
