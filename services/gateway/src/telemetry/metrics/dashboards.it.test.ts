import { beforeAll, describe, expect, test } from '@jest/globals';
import { describeWithPrograms, runProgram } from '@vitrine/e2e/programs';
import { createCloseCounts } from '@vitrine/http-api/connections/client-connections';
import { noCounts } from '@vitrine/postgres/pool-figures';
import { parseScrape } from '@vitrine/testkit/parse-scrape';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { readTestOtelConfig } from '../../testing/read-test-otel-config.ts';
import { NO_FIGURES } from '../../recording/publisher/publisher-options.ts';
import { startGatewayTelemetry } from '../start-gateway-telemetry.ts';

// Every metric and label in the expressions of dashboards and alerts must exist in a live scrape, or in the metrics goldens of the other
// services.

const FOLDER = new URL('../../../../../deploy/observability/', import.meta.url);
/** Metrics that others serve, with their labels. */
const OF_OTHERS: Readonly<Record<string, readonly string[]>> = { kafka_consumergroup_lag: ['consumergroup', 'topic'] };
/** Metrics of the other services, with their labels; see their metrics-golden tests. A metric of several services has the labels of all. */
const OF_SERVICES = new Map<string, readonly string[]>();
for (const file of readdirSync(new URL('metrics/', FOLDER)))
  for (const [name = '', ...labels] of read(`metrics/${file}`)
    .split('\n')
    .map((line) => line.split(' ')))
    OF_SERVICES.set(name, [...(OF_SERVICES.get(name) ?? []), ...labels]);
/** Labels that Prometheus adds, and the bucket label. */
const OF_PROMETHEUS = ['instance', 'job', 'le'];
const NO_CONNECTIONS = { connections: 0, idleConnections: 0, maxConnections: 1, waiting: 0 };
const WORDS = new Set(['and', 'or', 'unless', 'by', 'without', 'on', 'ignoring', 'group_left', 'group_right', 'offset', 'bool']);

interface Expression {
  readonly where: string;
  readonly text: string;
}

let served: ReadonlyMap<string, ReadonlySet<string>>;

beforeAll(async () => {
  served = await scrapedMetrics();
});

/** Labels by sample name, from a gateway in which every event has happened once. */
async function scrapedMetrics(): Promise<Map<string, Set<string>>> {
  const config = readTestOtelConfig({ prometheus_enabled: true, genai: true });
  using telemetry = await startGatewayTelemetry({ config, version: '1', onExportError: () => {} });
  const labels = { provider: 'openai', model: 'm', org_id: 'o', workspace_id: 'w', route: '/openai/*' };
  telemetry?.metrics?.requestEnded({ ...labels, status: 200, durationMs: 1, providerMs: 1 }, undefined);
  telemetry?.metrics?.traceDropped(labels, 200);
  telemetry?.metrics?.writeFailed(1, { operation: 'write_trace', error_class: 'unknown', store: 'sqlite' });
  telemetry?.metrics?.unknownUsed({ provider: 'openai', kind: 'unpriced', count: 1 });
  telemetry?.metrics?.flushed(1, 1);
  const queue = { depth: 1, capacity: 2, counters: { enqueueAccepted: 1, written: 1 } };
  telemetry?.metrics?.observeQueue(queue, undefined);
  telemetry?.metrics?.observeQueue(queue, { spoolMaxBytes: 1, figures: NO_FIGURES });
  telemetry?.metrics?.published(1, []);
  telemetry?.metrics?.observePools(() => ({ traces: { ...noCounts(), ...NO_CONNECTIONS } }));
  telemetry?.metrics?.observeConnections({ size: 1, closed: { ...createCloseCounts(), connection_limit: 1 } }, 2);
  const families = await waitUntil(
    async () => {
      // Garbage, so that the garbage collection metric exists.
      Array.from({ length: 100_000 }, () => ({}));
      const { body = '' } = (await telemetry?.scrape?.(undefined)) ?? {};
      return /nodejs_eventloop_delay/.test(body) && /v8js_gc/.test(body) && parseScrape(body, 'classic');
    },
    { what: 'every runtime metric' },
  );
  const found = new Map<string, Set<string>>();
  for (const { name, labels: of } of families.flatMap(({ samples }) => samples)) {
    const known = found.get(name) ?? new Set();
    for (const label of Object.keys(of)) known.add(label);
    found.set(name, known);
  }
  return found;
}

function read(file: string): string {
  return readFileSync(new URL(file, FOLDER), 'utf8');
}

/** Every `expr` of a dashboard or rule file, and the queries of a dashboard's variables. */
function expressionsOf(file: string): Expression[] {
  const walk = (node: unknown): string[] => {
    if (typeof node !== 'object' || node === null) return [];
    return Object.entries(node).flatMap(([key, value]) =>
      typeof value === 'string' && (key === 'expr' || value.startsWith('label_values(')) ? [value] : walk(value),
    );
  };
  return walk(parse(read(file))).map((text) => ({ where: file, text }));
}

/** The metrics and labels that an expression names. */
function namesIn(text: string): { metrics: string[]; labels: string[] } {
  const ofVariable = /^label_values\((\w+), (\w+)\)$/.exec(text);
  if (ofVariable !== null) return { metrics: [ofVariable[1] ?? ''], labels: [ofVariable[2] ?? ''] };
  const labels: string[] = [];
  const plain = text
    .replaceAll(/"[^"]*"/g, '""')
    .replaceAll(/\{([^}]*)\}/g, (_, matchers: string) => {
      labels.push(...[...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label));
      return '';
    })
    .replaceAll(/\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g, (_, list: string) => {
      labels.push(...list.split(',').map((label) => label.trim()));
      return '';
    })
    .replaceAll(/\[[^\]]*\]/g, '');
  const metrics = [...plain.matchAll(/(?<![\w.])[a-z_][a-z0-9_]*(?!\w)(?!\s*\()/g)].map(([name]) => name);
  return { metrics: metrics.filter((name) => !WORDS.has(name)), labels };
}

const files = ['alerts.yaml', ...readdirSync(new URL('dashboards/', FOLDER)).map((name) => `dashboards/${name}`)];

describe.each(files)('%s', (file) => {
  const expressions = expressionsOf(file);

  test('has expressions, and each names a metric', () => {
    expect(expressions.length).toBeGreaterThan(5);
    expect(expressions.filter(({ text }) => namesIn(text).metrics.length === 0)).toEqual([]);
  });

  test.each(expressions)('$text', ({ text }) => {
    const { metrics, labels } = namesIn(text);
    const labelsOf = (metric: string) => served.get(metric) ?? OF_SERVICES.get(metric) ?? OF_OTHERS[metric];
    expect(metrics.filter((metric) => labelsOf(metric) === undefined)).toEqual([]);
    const known = new Set([...OF_PROMETHEUS, ...metrics.flatMap((metric) => [...(labelsOf(metric) ?? [])])]);
    expect(labels.filter((label) => !known.has(label))).toEqual([]);
  });
});

// Prometheus' own tool checks more; CONTRIBUTING.md has the command.
describeWithPrograms(['promtool'], 'promtool', () => {
  test.each([
    ['check', 'alerts.yaml'],
    ['test', 'alerts.test.yaml'],
  ])('%s rules %s', (command, file) => {
    const { status, stdout, stderr } = runProgram('promtool', [command, 'rules', fileURLToPath(new URL(file, FOLDER))]);
    expect([status, status === 0 ? '' : stdout + stderr]).toEqual([0, '']);
  });
});

const LOSSES = ['GatewayTracesDropped', 'GatewayTraceWritesFail', 'GatewayTracesNotPublished', 'TraceWriterRejectsRecords'];

test('every alert has a promtool test in which it fires', () => {
  const { groups } = parse(read('alerts.yaml')) as { groups: { rules: { alert: string }[] }[] };
  const { tests } = parse(read('alerts.test.yaml')) as {
    tests: { alert_rule_test: { alertname: string; exp_alerts?: unknown[] }[] }[];
  };
  const firing = tests.flatMap(({ alert_rule_test: cases }) => cases).filter(({ exp_alerts: alerts = [] }) => alerts.length > 0);
  const names = new Set(firing.map(({ alertname }) => alertname));
  expect([...names].toSorted()).toEqual(groups.flatMap(({ rules }) => rules.map(({ alert }) => alert)).toSorted());
});

test('every alert has a next step and a link to its documentation', () => {
  const { groups } = parse(read('alerts.yaml')) as {
    groups: { rules: { alert: string; annotations: Record<string, string> }[] }[];
  };
  const without = groups
    .flatMap(({ rules }) => rules)
    .filter(({ annotations }) => !/^.{20,}: docs\/failure-modes\.md#[a-z0-9_-]+$/.test(annotations['next_step'] ?? ''));
  expect(without.map(({ alert }) => alert)).toEqual([]);
});

test('drops and failures alert at once, because a burst must not end before the alert begins', () => {
  const { groups } = parse(read('alerts.yaml')) as { groups: { rules: { alert: string; for?: string }[] }[] };
  const rules = groups.flatMap((group) => group.rules);
  const lost = rules.filter(({ alert }) => LOSSES.includes(alert));
  expect(lost.map((rule) => rule.for)).toEqual(LOSSES.map(() => undefined));
});

test('the collector takes OTLP on the ports that a gateway exports to by default', () => {
  const collector = parse(read('otel-collector.yaml')) as {
    receivers: { otlp: { protocols: { grpc: { endpoint: string }; http: { endpoint: string } } } };
  };
  const { grpc, http } = collector.receivers.otlp.protocols;
  expect([grpc.endpoint, http.endpoint]).toEqual(['0.0.0.0:4317', '0.0.0.0:4318']);
});

test('prometheus loads the alerts', () => {
  expect(parse(read('prometheus.yaml'))).toMatchObject({ rule_files: ['alerts.yaml'] });
});
