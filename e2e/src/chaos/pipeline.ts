import { createKafkaClient } from '@vitrine/kafka/kafka-client';
import { ensureTopics } from '@vitrine/kafka/ensure-topics';
import { deadLetterTopic } from '@vitrine/kafka/consume/dead-letter';
import { collectLog } from '@vitrine/kafka/testing/collect-log';
import { migrate } from '@vitrine/postgres/migrate';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { npmScript } from '@vitrine/testkit/npm-script';
import { MIGRATIONS_FOLDER } from '@vitrine/testkit/template-database';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startGateway, type RunningGateway } from '../running-gateway.ts';
import { freePort, startProcess, type RunningProcess } from '../running-process.ts';
import type { ChaosServers } from './chaos-servers.ts';
import { configurationText, GATEWAY_TOKENS } from './gateway-keys.ts';
import { Restartable } from './restartable.ts';
import { TraceTopic } from './trace-topic.ts';

const GATEWAYS = 2;
const PARTITIONS = 6;
const TOPIC = { partitions: PARTITIONS, replicationFactor: 1, retentionMs: 3_600_000, maxMessageBytes: 1_048_576 };
/** Reading all traces of a run on a busy machine. */
const STATEMENT_TIMEOUT_MS = 60_000;

export interface PipelineOptions {
  readonly servers: ChaosServers;
  /** Of database, topic and consumer group; unique among runs of these servers. */
  readonly name: string;
  readonly folder: string;
  readonly upstream: string;
  readonly writers: number;
  readonly spoolMaxBytes: number;
}

export type WriterProcess = AsyncDisposable & { readonly process: RunningProcess };

/** Two gateways and some trace-writers as real processes, with a topic and a database of their own. */
export interface Pipeline extends AsyncDisposable {
  readonly servers: ChaosServers;
  readonly topic: TraceTopic;
  readonly database: PostgresPool;
  readonly gateways: readonly Restartable<RunningGateway>[];
  readonly writers: readonly Restartable<WriterProcess>[];
  spoolPath(gateway: number): string;
  /** Another gateway on the same database and topic, with daily limits of tokens by gateway key. */
  startGatewayWithLimits(tokensPerDay: ReadonlyMap<string, number>): Promise<RunningGateway>;
}

export async function startPipeline(options: PipelineOptions): Promise<Pipeline> {
  const { servers, name, writers: writerCount } = options;
  await using opened = new AsyncDisposableStack();
  const dsn = servers.dsnOf(name);
  await createDatabase(options);
  const database = opened.use(
    new PostgresPool({ dsn, applicationName: 'chaos', maxConnections: 2, statementTimeoutMs: STATEMENT_TIMEOUT_MS }),
  );
  const client = createKafkaClient({ clientId: 'chaos', brokers: servers.kafka.brokers }, collectLog());
  await ensureTopics(client, [
    { ...TOPIC, topic: name },
    { ...TOPIC, topic: deadLetterTopic(name) },
  ]);
  const gateways = await Promise.all(
    Array.from({ length: GATEWAYS }, (_, at) => openGateway(options, `gateway-${at}`, configurationText())),
  );
  const writers = await Promise.all(Array.from({ length: writerCount }, (_, at) => openWriter(options, `writer-${at}`)));
  for (const service of [...gateways, ...writers]) opened.use(service);
  await Promise.all([...gateways, ...writers].map((service) => service.start()));
  let limited = 0;
  const running = opened.move();
  return {
    servers,
    topic: new TraceTopic(client, { topic: name, groupId: name }),
    database,
    gateways,
    writers,
    spoolPath: (gateway) => join(options.folder, `gateway-${gateway}`, 'spool'),
    async startGatewayWithLimits(tokensPerDay) {
      limited += 1;
      const gateway = await openGateway(options, `limited-${limited}`, configurationText(tokensPerDay));
      await gateway.start();
      return gateway.running;
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function createDatabase({ servers, name }: PipelineOptions): Promise<void> {
  await using admin = new PostgresPool({ dsn: servers.dsnOf('postgres'), applicationName: 'chaos', maxConnections: 1 });
  await admin.execute(`CREATE DATABASE "${name}"`);
  await migrate({ dsn: servers.dsnOf(name), folder: MIGRATIONS_FOLDER });
}

async function openGateway(
  { servers, name, folder, upstream, spoolMaxBytes }: PipelineOptions,
  service: string,
  configuration: string,
): Promise<Restartable<RunningGateway>> {
  const own = join(folder, service);
  await mkdir(own, { recursive: true });
  await writeFile(join(own, 'vitrine.yaml'), configuration);
  const port = await freePort();
  const variables = {
    SVC_SERVER_PORT: String(port),
    SVC_STORAGE_DRIVER: 'postgres',
    SVC_STORAGE_DSN: servers.dsnOf(name).reveal(),
    SVC_QUEUE_DRIVER: 'kafka',
    SVC_QUEUE_BROKERS: servers.proxiedBrokers.join(','),
    SVC_QUEUE_TOPIC: name,
    SVC_QUEUE_SPOOL_PATH: join(own, 'spool'),
    SVC_QUEUE_SPOOL_MAX_BYTES: String(spoolMaxBytes),
    SVC_TRACING_CAPTURE_BODIES: 'true',
  };
  const gatewayKey = GATEWAY_TOKENS[0] ?? '';
  return new Restartable(service, () => startGateway({ folder: own, upstream, port, variables, gatewayKey }));
}

async function openWriter({ servers, name, folder }: PipelineOptions, service: string): Promise<Restartable<WriterProcess>> {
  const port = await freePort();
  const env = {
    WRITER_SERVER_HOST: '127.0.0.1',
    WRITER_SERVER_PORT: String(port),
    WRITER_STORAGE_DSN: servers.dsnOf(name).reveal(),
    WRITER_QUEUE_BROKERS: servers.kafka.brokers.join(','),
    WRITER_QUEUE_TOPIC: name,
    WRITER_QUEUE_GROUP: name,
  };
  return new Restartable(service, async () => {
    const process = startProcess({ command: npmScript('trace-writer'), cwd: folder, env });
    await process.untilServing(`http://127.0.0.1:${port}/api/health`);
    return { process, [Symbol.asyncDispose]: () => process[Symbol.asyncDispose]() };
  });
}
