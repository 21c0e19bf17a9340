import { describe, expect, test } from '@jest/globals';
import { leavesOf, variableName } from '@vitrine/config/leaves';
import { otelVariables } from '@vitrine/telemetry/config/otel-config';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gatewayCommandLine } from '../registry.ts';
import { gatewayConfig } from '../../config.ts';
import { GATEWAY_INSTRUMENTS } from '../../testing/gateway-instruments.ts';
import { OLD_CONFIG } from '../../testing/old-config-file.ts';
import { OLD_KEYS, OLD_VARIABLES } from '../../config/old-settings.ts';

// docs/migrating.md lists every named feature of the old gateway, and every name of ours in it exists.

const text = readFileSync(join(import.meta.dirname, '../../../../../docs/migrating.md'), 'utf8');
/** Names in backquotes. */
const named = new Set([...text.matchAll(/`([^`\n]+)`/g)].map((match) => match[1] ?? ''));
const rows = text.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| Theirs'));
const theirs = rows.map((row) => row.split(' | ')[0] ?? '').join('\n');

/** Paths of all keys; `[]` stands for a place in a list. */
function keysOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value) && typeof value[0] === 'object') return keysOf(value[0], `${path}[]`);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [path];
  return Object.entries(value).flatMap(([key, inner]) => keysOf(inner, path === '' ? key : `${path}.${key}`));
}
const words = (names: string) => names.trim().split(/\s+/);

const HEADERS = words(`X-OngoingAI-Gateway-Key X-OngoingAI-Trace-Group-ID X-OngoingAI-Thread-ID X-OngoingAI-Run-ID
  X-OngoingAI-Parent-Checkpoint-ID X-OngoingAI-Checkpoint-Seq X-OngoingAI-Correlation-ID Authorization X-API-Key Retry-After`);
const OTEL =
  words(`OTEL_SDK_DISABLED OTEL_EXPORTER_OTLP_ENDPOINT OTEL_EXPORTER_OTLP_INSECURE OTEL_SERVICE_NAME OTEL_TRACES_EXPORTER
  OTEL_METRICS_EXPORTER OTEL_TRACES_SAMPLER_ARG OTEL_EXPORTER_OTLP_TIMEOUT OTEL_METRIC_EXPORT_INTERVAL`);
const OLD_COMMANDS = [
  'serve',
  'version',
  '--version',
  '-v',
  'config validate',
  'shell-init',
  'wrap',
  'report',
  'debug',
  'debug last',
  'doctor',
  'diagnostics',
  'diagnostics trace-pipeline',
];
const FLAGS =
  words(`--format --from --to --provider --model --limit --trace-id --trace-group-id --thread-id --run-id --diff --bundle-out
  --include-headers --include-bodies --base-url --gateway-key --auth-header --timeout`);
const ENDPOINTS = words(`/ /api/health /api/diagnostics/trace-pipeline /api/traces /api/traces/:id /api/traces/:id/replay
  /api/analytics/usage /api/analytics/cost /api/analytics/models /api/analytics/keys /api/analytics/latency /api/analytics/errors
  /api/analytics/summary /api/gateway-keys /metrics`).map((path) => `GET ${path}`);
const CHANGES = [
  'POST /api/traces/:id/fork',
  'POST /api/gateway-keys',
  'DELETE /api/gateway-keys/:id',
  'POST /api/gateway-keys/:id/rotate',
];
const LIMIT_CODES = words(`KEY_RATE_LIMIT_EXCEEDED WORKSPACE_RATE_LIMIT_EXCEEDED KEY_DAILY_TOKENS_EXCEEDED
  WORKSPACE_DAILY_TOKENS_EXCEEDED KEY_DAILY_COST_EXCEEDED WORKSPACE_DAILY_COST_EXCEEDED`);
const METRICS = words(`trace.queue_dropped_total trace.write_failed_total trace.enqueued_total trace.written_total
  trace.flush_duration_seconds trace.flush_batch_size trace.queue_depth trace.queue_capacity provider.request_total
  provider.request_duration_seconds proxy.request_total proxy.request_duration_seconds`);
const METADATA =
  words(`streaming stream_chunks correlation_id api_key_last4 gateway_key_id role org_id workspace_id team redaction_mode
  redaction_policy_id redaction_applied redaction_counts redaction_storage_drop redaction_truncated redaction_failure_semantics`);

describe('everything of the old gateway is listed', () => {
  test.each([
    ['variables', [...Object.keys(OLD_VARIABLES), ...OTEL]],
    ['keys of its file', keysOf(OLD_CONFIG)],
    ['headers', HEADERS],
    ['commands', OLD_COMMANDS.map((name) => `ongoingai ${name}`)],
    ['flags', FLAGS],
    ['endpoints', [...ENDPOINTS, ...CHANGES]],
    ['limit codes', LIMIT_CODES],
    ['metrics', METRICS.map((name) => `ongoingai.${name}`)],
    ['metadata', METADATA.map((name) => `metadata.${name}`)],
  ])('%s', (_, names) => {
    expect(names.filter((name) => !theirs.includes(`\`${name}\``))).toEqual([]);
  });

  test('and its text for them is that of the program', () => {
    for (const [name, instead] of Object.entries(OLD_VARIABLES)) {
      const row = rows.find((line) => line.startsWith(`| \`${name}\` |`));
      const successor = /^SVC_\w+/.exec(instead)?.[0];
      expect([name, row?.includes(successor === undefined ? '| gone: ' : `| \`${successor}\` |`)]).toEqual([name, true]);
    }
    for (const key of Object.keys(OLD_KEYS)) {
      const row = rows.find((line) => line.includes(`| \`${key}\``) || line.includes(`\`${key}.`));
      expect([key, row?.includes('| gone: ')]).toEqual([key, true]);
    }
  });
});

describe('every name of ours in it exists', () => {
  const leaves = leavesOf(gatewayConfig);
  const variables = [
    ...leaves.map(({ path }) => variableName('SVC_', path)),
    ...otelVariables('SVC_').map(({ name }) => name),
    'SVC_CONFIG',
  ];

  test('variables', () => {
    const ours = [...named].flatMap((name) => /^SVC_[A-Z_]+$/.exec(name)?.[0] ?? []);
    expect(ours.length).toBeGreaterThan(10);
    expect(ours.filter((name) => name !== 'SVC_' && !variables.includes(name))).toEqual([]);
  });

  test('commands', () => {
    const names = gatewayCommandLine.commands.map(({ name }) => name);
    const ours = rows.filter((row) => row.startsWith('| `ongoingai ')).map((row) => row.split(' | ')[1] ?? '');
    const listed = ours.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? ''));
    expect(listed.length).toBeGreaterThan(8);
    expect(listed.filter((name) => !names.includes(name))).toEqual([]);
    for (const name of ['keys create', 'keys list', 'keys rotate', 'keys revoke', 'import']) expect(names).toContain(name);
  });

  test('metrics have the names of the instruments', () => {
    const instruments = Object.values(GATEWAY_INSTRUMENTS).map(({ name }) => name);
    for (const name of METRICS) {
      expect(named.has(`svc.${name}`)).toBe(true);
      expect(instruments).toContain(`svc.${name}`);
    }
  });
});
