import type { Secret } from '@vitrine/config/secret';
// Named imports of the codecs fail at run time, because kafkajs assigns them in a way that Node cannot analyse.
import kafkajs, { Kafka, logLevel, type Admin, type KafkaConfig, type SASLOptions } from 'kafkajs';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { debugLogCreator, type KafkaLog } from './kafka-log.ts';
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

/** Level 1 compresses text as well as the default of 3 in two thirds of the time. */
const ZSTD_PARAMS = { [constants.ZSTD_c_compressionLevel]: 1 };
/** Our own publishers send 1 MB at once; a batch that expands beyond this does not come from them. */
const MAX_BATCH_BYTES = 67_108_864;

const zstd = {
  compress: async ({ buffer }: { buffer: Buffer }) => zstdCompressSync(buffer, { params: ZSTD_PARAMS }),
  decompress: async (buffer: Buffer) => zstdDecompressSync(buffer, { maxOutputLength: MAX_BATCH_BYTES }),
};

/** kafkajs ships only gzip and reads other codecs from this table. Registering again has no effect. Both directions are synchronous, because
 *  passing each batch to Node's thread pool costs more CPU than compressing it. The gateway publishes on a worker thread. */
function registerZstd(): void {
  const { CompressionCodecs, CompressionTypes } = kafkajs;
  CompressionCodecs[CompressionTypes.ZSTD] = () => zstd;
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
