import type { Secret } from '@vitrine/config/secret';
import { Kafka, logLevel, type KafkaConfig, type SASLOptions } from 'kafkajs';
import { debugLogCreator, type KafkaLog } from './kafka-log.ts';
import { registerZstd } from './codec/zstd-codec.ts';

const CONNECTION_TIMEOUT_MS = 3_000;
const REQUEST_TIMEOUT_MS = 5_000;
/** Retries within one attempt to connect, about 1 s together; the publisher and the consumer begin anew after that. */
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
  if (sasl !== undefined) config.sasl = saslOptions(sasl);
  return { kafka: new Kafka(config), brokers, log };
}

function saslOptions({ mechanism, username, password }: KafkaSasl): SASLOptions {
  return { mechanism, username, password: password.reveal() };
}
