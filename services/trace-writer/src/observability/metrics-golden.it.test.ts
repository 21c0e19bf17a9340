import { expect, test } from '@jest/globals';
import { goldenText } from '@vitrine/testkit/golden-text';
import { noCounts } from '@vitrine/postgres/pool-figures';
import { createLogger } from '@vitrine/telemetry/logger';
import { parseScrape } from '@vitrine/testkit/parse-scrape';
import { readWriterConfig } from '../config.ts';
import { WriterTelemetry } from './writer-telemetry.ts';

const GOLDEN = new URL('../../../../deploy/observability/metrics/trace-writer.txt', import.meta.url);
const ENV = { WRITER_STORAGE_DSN: 'postgresql://writer@db/vitrine', WRITER_QUEUE_BROKERS: 'kafka:9092' };
const CONSUMER = { lagRecords: 1, assignedPartitions: 1, records: 1, deadLetters: 1, rebalances: 1, pauses: 1, restarts: 1 };
const POOL = { ...noCounts(), connections: 1, idleConnections: 1, maxConnections: 1, waiting: 0 };

test('deploy/observability lists the metrics and labels of a trace-writer; npm run golden rewrites them', async () => {
  const { observability } = readWriterConfig(undefined, ENV);
  using telemetry = await WriterTelemetry.start(observability.otel, createLogger('test', 'silent', { write: () => true }));
  telemetry.batchWritten({ startedAt: 0, endedAt: 1, batchSize: 1, written: 1, duplicates: 0, failures: [] });
  telemetry.observe(() => ({
    written: 1,
    duplicates: 1,
    deadLetters: new Map([['malformed_record', 1]]),
    lastStoreDrop: undefined,
    consumer: CONSUMER,
    isConsuming: true,
    fallbacks: { insert: 1, records: 1 },
    partitionsAhead: 3,
    pools: { write: POOL },
  }));
  const { body = '' } = (await telemetry.scrape?.(undefined)) ?? {};
  const labels = new Map<string, Set<string>>();
  for (const { name, labels: of } of parseScrape(body, 'classic').flatMap(({ samples }) => samples)) {
    if (!name.startsWith('svc_')) continue;
    labels.set(name, new Set([...(labels.get(name) ?? []), ...Object.keys(of)]));
  }
  const lines = [...labels].map(([name, of]) => [name, ...[...of].toSorted()].join(' '));
  const text = `${lines.toSorted().join('\n')}\n`;
  expect(text).toBe(goldenText(GOLDEN, text));
});
