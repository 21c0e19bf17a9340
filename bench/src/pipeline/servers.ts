import { Secret } from '@vitrine/config/secret';
import { engineError, startKafka, startPostgres } from '@vitrine/e2e/environment';
import { ensureTopics, type TopicSettings } from '@vitrine/kafka/ensure-topics';
import { createKafkaClient } from '@vitrine/kafka/kafka-client';
import { migrate } from '@vitrine/postgres/migrate';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { MIGRATIONS_FOLDER } from '@vitrine/testkit/template-database';

export const TOPIC = 'vitrine.traces';
export const PARTITIONS = 12;
const CONNECTIONS = 2;
const SETTINGS = { replicationFactor: 1, retentionMs: 3_600_000, maxMessageBytes: 1_048_576 };
const TOPICS: readonly TopicSettings[] = [
  { ...SETTINGS, topic: TOPIC, partitions: PARTITIONS },
  { ...SETTINGS, topic: `${TOPIC}.dlq`, partitions: 1 },
];

/** A broker and a database in containers, with topics and tables. */
export interface Servers {
  readonly brokers: readonly string[];
  readonly dsn: string;
  readonly database: PostgresPool;
}

/** Starts both; `stack` stops them. Throws without a container engine, and when the database runs without fsync. */
export async function startServers(stack: AsyncDisposableStack): Promise<Servers> {
  const reason = await engineError();
  if (reason !== undefined)
    throw new Error(
      `bench pipeline runs Kafka and Postgres in containers, and no container engine responds (${reason}).\n` +
        'Start Docker or Podman, or set DOCKER_HOST to the engine, and run it again.',
    );
  const kafka = stack.use(await startKafka());
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  await ensureTopics(createKafkaClient({ clientId: 'vitrine-bench', brokers: kafka.brokers }, log), TOPICS);
  const container = await startPostgres();
  stack.defer(async () => void (await container.stop({ timeout: 0 })));
  const dsn = container.getConnectionUri();
  await migrate({ dsn: new Secret(dsn), folder: MIGRATIONS_FOLDER });
  const database = new PostgresPool({ dsn: new Secret(dsn), applicationName: 'vitrine-bench', maxConnections: CONNECTIONS });
  stack.use(database);
  await database.query('SELECT make_trace_partitions(1)');
  const [setting] = await database.query<{ fsync: string }>('SHOW fsync');
  if (setting?.fsync !== 'on') throw new Error('the database runs without fsync, so its write rate means nothing');
  return { brokers: kafka.brokers, dsn, database };
}
