import { expect, test } from '@jest/globals';
import { goldenText } from '@vitrine/testkit/golden-text';
import { noCounts } from '@vitrine/postgres/pool-figures';
import { signalType } from '@vitrine/stores/resources/enumerations';
import { createLogger } from '@vitrine/telemetry/logger';
import { parseScrape } from '@vitrine/testkit/parse-scrape';
import { readScanConfig } from '../config.ts';
import { ScanTelemetry, type ConsumerSums, type ScanFigures } from './scan-telemetry.ts';

const GOLDEN = new URL('../../../../deploy/observability/metrics/enrich-scan-queue.txt', import.meta.url);
const ENV = { SCAN_STORAGE_DSN: 'postgresql://scanner@db/vitrine', SCAN_QUEUE_BROKERS: 'kafka:9092' };
const CONSUMER: ConsumerSums = { lagRecords: 1, records: 1, deadLetters: 1, isRunning: true };
const POOL = { ...noCounts(), connections: 1, idleConnections: 1, maxConnections: 1, waiting: 0 };
const FIGURES: ScanFigures = {
  inFlight: 1,
  slots: 16,
  waiting: new Map([['requested', 1]]),
  duplicates: 0,
  consumers: new Map([['requested', CONSUMER]]),
  routine: {
    runs: { queued: 0, not_leading: 0, failed: 0 },
    scansQueued: 0,
    evidenceRemoved: 0,
    cleanUpFailures: 0,
    jobs: { open: 1, delayed: 1 },
  },
  replay: { stores: { replayed: 0, unchanged: 0, failed: 0 }, remaining: 1 },
  outbox: {
    published: new Map([['vitrine.scans.requested', 1]]),
    failures: { unavailable: 0, refused: 0, database: 0 },
    inFlight: 0,
    backlog: { rows: 1, oldestAgeMs: 1 },
    backlogReadFailures: 0,
  },
  pools: { scan: POOL },
};

const scrapeOf = async (use: (telemetry: ScanTelemetry) => void) => {
  const { observability } = readScanConfig(undefined, ENV);
  using telemetry = await ScanTelemetry.start(observability.otel, createLogger('test', 'silent', { write: () => true }));
  telemetry.observe(() => FIGURES, { waits: 0, waitedMs: 0, putOffs: 0, slowDowns: 0 });
  use(telemetry);
  const { body = '' } = (await telemetry.scrape?.(undefined)) ?? {};
  return parseScrape(body, 'classic').flatMap(({ samples }) => samples);
};

test('deploy/observability lists the metrics and labels of a scanner; npm run golden rewrites them', async () => {
  const job = { id: 'job_1', domain: 'a.com', cause: 'requested', attempts: 1, leaseId: 'lease', queuedAt: 0 } as const;
  const samples = await scrapeOf((telemetry) => telemetry.runEnded({ job, result: 'completed', startedAt: 0, endedAt: 1 }));
  const labels = new Map<string, Set<string>>();
  for (const { name, labels: of } of samples) {
    if (!/^(?:scan|svc)_/.test(name)) continue;
    labels.set(name, new Set([...(labels.get(name) ?? []), ...Object.keys(of)]));
  }
  const lines = [...labels].map(([name, of]) => [name, ...[...of].toSorted()].join(' '));
  const text = `${lines.toSorted().join('\n')}\n`;
  expect(text).toBe(goldenText(GOLDEN, text));
});

test('every counter exists at 0 from the start', async () => {
  const samples = await scrapeOf(() => {});
  for (const name of [
    'scan_runs_total',
    'scan_observations_total',
    'scan_signals_total',
    'scan_scheduler_runs_total',
    'scan_rules_replay_stores_total',
  ]) {
    const values = samples.filter((sample) => sample.name === name).map(({ value }) => value);
    expect([name, values.length > 2, new Set(values)]).toEqual([name, true, new Set([0])]);
  }
});

test('held and withdrawn signals are counted by type, each from 0', async () => {
  const countsOf = (samples: Awaited<ReturnType<typeof scrapeOf>>, name: string) =>
    new Map(samples.filter((sample) => sample.name === name).map(({ labels, value }) => [labels['type'], value]));
  const before = await scrapeOf(() => {});
  const after = await scrapeOf((telemetry) => {
    const removal = { type: 'technology_removed' };
    const withdrawn = [removal, { type: 'platform_migrated' }];
    telemetry.observationCommitted('full', { signals: [], held: [removal, removal], holds: ['loox'], withdrawn });
  });
  const none = signalType.options.map((type) => [type, 0] as const);
  expect(countsOf(before, 'svc_scan_signals_held_total')).toEqual(new Map([['technology_removed', 0]]));
  expect(countsOf(before, 'svc_scan_signals_withdrawn_total')).toEqual(new Map(none));
  expect(countsOf(after, 'svc_scan_signals_held_total')).toEqual(new Map([['technology_removed', 2]]));
  expect(countsOf(after, 'svc_scan_signals_withdrawn_total')).toEqual(
    new Map([...none, ['technology_removed', 1], ['platform_migrated', 1]]),
  );
});
