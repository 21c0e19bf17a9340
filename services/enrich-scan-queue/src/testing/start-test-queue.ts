import { createKafkaClient } from '@vitrine/kafka/kafka-client';
import { kafkaConnection } from '@vitrine/kafka/kafka-connection';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { createId } from '@vitrine/stores/identifiers';
import { queueScans, type ScanCause } from '@vitrine/stores/scans/queue-scans';
import type { StoreDatabase } from '@vitrine/stores/testing/store-database';
import { URLS } from '@vitrine/stores/testing/store-states';
import { createLogger } from '@vitrine/telemetry/logger';
import { randomBytes } from 'node:crypto';
import { readScanConfig } from '../config.ts';
import type { EndedRun, RunResult } from '../jobs/job-runner.ts';
import type { ClaimedJob } from '../jobs/scan-jobs.ts';
import { RULES } from '../run-scan.ts';
import { ScanQueue } from '../scan-queue.ts';

type Run = (job: ClaimedJob, signal: AbortSignal) => Promise<RunResult>;

export interface TestQueue extends AsyncDisposable {
  readonly queue: ScanQueue;
  readonly pool: PostgresPool;
  readonly ends: readonly EndedRun[];
  readonly log: readonly string[];
}

/** A queue as a separate replica, without a broker unless `brokers` names one. Stores are not rescanned. */
export function startTestQueue(
  database: StoreDatabase,
  createRun: (pool: PostgresPool) => Run,
  { brokers, ...variables }: Readonly<Record<string, string>> & { readonly brokers?: string } = {},
): TestQueue {
  const config = readScanConfig(undefined, {
    SCAN_STORAGE_DSN: 'postgresql://unused@127.0.0.1:9/unused',
    ...(brokers === undefined ? { SCAN_QUEUE_DRIVER: 'database' } : { SCAN_QUEUE_BROKERS: brokers }),
    SCAN_RESCAN_ENABLED: 'false',
    SCAN_JOBS_RETRY_MS: '1',
    ...variables,
  });
  const log: string[] = [];
  const ends: EndedRun[] = [];
  const logger = createLogger('test', 'info', { write: (line) => log.push(line) });
  const pool = database.as('vitrine_enrich');
  const onEnd = (end: EndedRun) => void ends.push(end);
  const client =
    brokers === undefined ? undefined : createKafkaClient(kafkaConnection('test', { ...config.queue, topic: '' }), logger);
  const queue = new ScanQueue({
    config,
    client,
    pool,
    logger,
    run: createRun(pool),
    onEnd,
    replay: { rules: RULES, urls: URLS },
  });
  queue.start();
  return { queue, pool, ends, log, [Symbol.asyncDispose]: () => queue.stop() };
}

const newId = () => createId('job', Date.now(), randomBytes);

/** Queues scans of the domains like the store API. Resolves with the id of each domain's job. */
export async function queueTestScans(pool: PostgresPool, domains: readonly string[], cause: ScanCause = 'requested') {
  const queued = await pool.transaction((transaction) => queueScans(transaction, { domains, cause, createId: newId }));
  return new Map([...queued].map(([domain, { scan_job_id }]) => [domain, scan_job_id]));
}
