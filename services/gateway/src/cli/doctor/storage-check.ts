import { isFault, messageOf } from '@vitrine/faults/fault';
import { createKafkaClient, tryPublishing } from '@vitrine/kafka/kafka-client';
import { kafkaConnection } from '@vitrine/kafka/kafka-connection';
import { kafkaErrorFields } from '@vitrine/kafka/kafka-error';
import type { PostgresPoolOptions } from '@vitrine/postgres/pool-options';
import { tryWriting } from '@vitrine/sqlite/try-writing';
import { openPostgresTraceStore } from '@vitrine/trace-store-postgres/postgres-trace-store';
import { TRACE_FILE } from '@vitrine/trace-store-sqlite/trace-tables';
import { TOPIC_CHECK_HEADER } from '@vitrine/traces/topic-check';
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { openTraces } from '../offline-traces/open-traces.ts';
import type { GatewayConfig } from '../../config.ts';
import { postgresOptions, storagePlace } from '../../storage/storage-settings.ts';
import type { PublisherSettings } from '../../recording/publisher/open-publisher.ts';
import { resultOf, type Check } from './check.ts';
import { folderProblem, problemOf, storageProblems } from './file-faults.ts';

const MISSING_TABLE = '42P01';
const CONNECT_TIMEOUT_MS = 3_000;
const CLIENT_ID = 'vitrine-gateway doctor';
const NO_LOG = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** Checks by a write whether this user can read and write the traces. Leaves no lock and no data behind. */
export async function checkStorage({ storage, queue }: Pick<GatewayConfig, 'storage' | 'queue'>): Promise<Check> {
  const options = postgresOptions(storage, 'doctor');
  if (options === undefined) return await checkFile({ storage });
  const check = await checkDatabase(options, storagePlace(storage));
  if (queue.driver !== 'kafka') return check;
  const problems = await queueProblems(queue);
  const details = [
    ...check.details,
    ...(problems.length > 0 ? problems : [`topic: ${queue.topic}`, `spool: ${queue.spool.path}`]),
  ];
  return problems.length > 0 && check.status === 'pass'
    ? { ...check, status: 'fail', summary: 'the traces cannot be published', details }
    : { ...check, details };
}

async function checkFile(config: Pick<GatewayConfig, 'storage'>): Promise<Check> {
  const path = resolve(config.storage.path);
  const found = resultOf('storage', [`path: ${path}`]);
  const problems = storageProblems(path, TRACE_FILE);
  if (!existsSync(path)) {
    if (problems.length > 0) return found('fail', 'the trace file cannot be created', problems);
    return found('pass', 'there are no traces yet; the gateway creates the file when it starts');
  }
  try {
    const details = [`size: ${statSync(path).size} bytes`, await newestTrace(config)];
    if (problems.length > 0) return found('fail', 'the traces cannot be written', [...details, ...problems]);
    const refusal = problemOf(`${path}: `, () => tryWriting(path));
    if (refusal !== undefined) return found('fail', 'the traces cannot be written', [...details, refusal]);
    return found('pass', 'the traces can be read and written', details);
  } catch (error) {
    if (!isFault(error)) throw error;
    // Both checks report a file of another program.
    const others = problems.filter((problem) => !error.say.endsWith(problem.slice(`${path}: `.length)));
    return found('fail', 'the traces cannot be read', [error.say, ...others]);
  }
}

async function newestTrace(config: Pick<GatewayConfig, 'storage'>): Promise<string> {
  await using store = await openTraces(config);
  const [newest] = (await store.list({ limit: 1 })).items;
  return newest === undefined ? 'no traces' : `newest trace: ${newest.created_at}`;
}

/** Checks whether this user can read and write the traces of a database. Nothing is left behind. `place`: its address. */
async function checkDatabase(options: PostgresPoolOptions, place: string): Promise<Check> {
  const found = resultOf('storage', [`database: ${place}`]);
  await using store = openPostgresTraceStore({ ...options, maxConnections: 1, connectTimeoutMs: CONNECT_TIMEOUT_MS });
  try {
    const [newest] = (await store.list({ limit: 1 })).items;
    const content = newest === undefined ? 'no traces' : `newest trace: ${newest.created_at}`;
    return await store.probe().then(
      () => found('pass', 'the traces can be read and written', [content]),
      (error: unknown) => found('fail', 'the traces cannot be written', [messageOf(error)]),
    );
  } catch (error) {
    const cause = isFault(error) ? error.cause : error;
    const isMissing = typeof cause === 'object' && cause !== null && 'code' in cause && cause.code === MISSING_TABLE;
    if (isMissing) return found('fail', 'the database lacks tables: run npm run migrate', [messageOf(cause)]);
    return found('fail', 'the traces cannot be read', [messageOf(cause)]);
  }
}

/** The reasons why traces could be neither published nor spooled. One record is published, which trace-writers skip. */
async function queueProblems(settings: PublisherSettings): Promise<string[]> {
  const spool = folderProblem(settings.spool.path);
  return [await topicProblem(settings), spool === undefined ? undefined : `queue.spool.path: ${spool}`].filter(
    (problem) => problem !== undefined,
  );
}

async function topicProblem(settings: PublisherSettings): Promise<string | undefined> {
  const { topic, brokers } = settings;
  try {
    const client = createKafkaClient(kafkaConnection(CLIENT_ID, settings), NO_LOG);
    await tryPublishing(client, topic, { key: 'check', value: null, headers: { [TOPIC_CHECK_HEADER]: 'doctor' } });
    return undefined;
  } catch (error) {
    return `queue.topic ${topic} at ${brokers.join(', ')}: ${messageOf(error)}: ${kafkaErrorFields(error).next_step}`;
  }
}
