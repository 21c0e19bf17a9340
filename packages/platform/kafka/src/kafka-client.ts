import type { Secret } from '@vitrine/config/secret';
import { Kafka, logLevel, type Admin, type KafkaConfig, type SASLOptions } from 'kafkajs';
import { debugLogCreator, type KafkaLog } from './kafka-log.ts';
import { registerZstd } from './codec/zstd-codec.ts';
import type { KafkaRecord } from './kafka-record.ts';

const CONNECTION_TIMEOUT_MS = 3_000;
const REQUEST_TIMEOUT_MS = 5_000;
/** Retries within one attempt to connect, about 1 s together; the publisher and the consumer start over after that. */
const CONNECT_RETRY = { retries: 2, initialRetryTime: 200, maxRetryTime: 1_000 };

export interface KafkaConnection {
  /** Shown in the brokers' logs and quotas. */
  readonly clientId: string;
  /** `host:port` of at least one broker. */
  readonly brokers: readonly string[];
  /** PEM texts; an empty object trusts the system's authorities. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: Secret } | undefined;
  readonly sasl?: KafkaSasl | undefined;
}

export interface KafkaSasl {
  readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
  readonly username: string;
  readonly password: Secret;
}

export interface KafkaClient {
  readonly kafka: Kafka;
  readonly brokers: readonly string[];
  readonly log: KafkaLog;
}

/** Opens no connection. */
export function createKafkaClient(connection: KafkaConnection, log: KafkaLog): KafkaClient {
  registerZstd();
  const { clientId, brokers, tls, sasl } = connection;
  const config: KafkaConfig = {
    clientId,
    brokers: [...brokers],
    connectionTimeout: CONNECTION_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    authenticationTimeout: REQUEST_TIMEOUT_MS,
    retry: CONNECT_RETRY,
    logLevel: logLevel.WARN,
    logCreator: debugLogCreator(log),
  };
  if (tls !== undefined) {
    const { key, ...certificates } = tls;
    config.ssl = { ...certificates, ...(key === undefined ? {} : { key: key.reveal() }) };
  }
  if (sasl !== undefined) {
    const options: SASLOptions = { ...sasl, password: sasl.password.reveal() };
    config.sasl = options;
  }
  return { kafka: new Kafka(config), brokers, log };
}

/** Runs `work` on an admin connection and closes it. Rejects with kafkajs' error when no broker responds. */
export async function withAdmin<T>({ kafka }: KafkaClient, work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = kafka.admin();
  try {
    await admin.connect();
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
}

/** Rejects with kafkajs' error when no broker responds or the topic does not exist. Creates nothing. */
export async function findTopic(client: KafkaClient, topic: string): Promise<void> {
  await withAdmin(client, (admin) => admin.fetchTopicMetadata({ topics: [topic] }));
}

/** Publishes one record, once and acknowledged by all replicas. Rejects with the same error as a publisher. */
export async function tryPublishing(
  client: KafkaClient,
  topic: string,
  { key, value, headers = {} }: KafkaRecord,
): Promise<void> {
  // A producer would only report that there is no leader.
  await findTopic(client, topic);
  const producer = client.kafka.producer({ allowAutoTopicCreation: false, idempotent: true, maxInFlightRequests: 1 });
  try {
    await producer.connect();
    await producer.send({ topic, acks: -1, messages: [{ key, value, headers }] });
  } finally {
    await producer.disconnect();
  }
}

/** Rejects when `work` takes longer than `timeoutMs`; the work itself continues, and its late failure is not an unhandled rejection. */
export async function withDeadline<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  work.catch(() => {});
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no result within ${timeoutMs} ms`)), timeoutMs);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
