import { Fault, messageOf } from '@vitrine/faults/fault';
import type { KafkaKeys } from '@vitrine/kafka/kafka-config';
import { kafkaConnection } from '@vitrine/kafka/kafka-connection';
import type { Logger } from '@vitrine/telemetry/logger';
import type { WriterSource, WriterThread } from '@vitrine/traces/writer-thread';
import { randomUUID } from 'node:crypto';
import type { PublisherCall } from './kafka-writer-module.ts';
import { receiveLog } from './log-channel.ts';
import { NO_FIGURES, type PublisherFigures, type PublisherOptions } from './publisher-options.ts';

const FIGURES_INTERVAL_MS = 1_000;
export interface PublisherSettings extends KafkaKeys {
  readonly spool: { readonly path: string; readonly max_bytes: number };
  readonly max_record_bytes: number;
}

/** The publisher of traces, which runs on the thread that derives them. */
export interface TracePublisher extends Disposable {
  readonly writer: WriterSource;
  readonly spoolMaxBytes: number;
  /** State of the publisher, at most a second old. */
  readonly figures: PublisherFigures;
  /** Opens the spool, which connects to the brokers in the background. Faults: `spool_unusable`. */
  start(thread: WriterThread): Promise<void>;
  /** Rejects when traces could be neither published nor spooled now. */
  probe(): Promise<void>;
}

/** Faults: `kafka_credentials_unreadable`. */
export function openPublisher(settings: PublisherSettings, logger: Logger): TracePublisher {
  const logChannel = randomUUID();
  const lines = receiveLog(logChannel, logger);
  const options = { ...plainOptions(settings), logChannel };
  let figures = NO_FIGURES;
  let thread: WriterThread | undefined;
  let isReading = false;
  const call = (name: PublisherCall) => thread?.callWriter(name);
  const read = async () => {
    if (isReading) return;
    isReading = true;
    figures = ((await call('figures')) as PublisherFigures | undefined) ?? figures;
    isReading = false;
  };
  const timer = setInterval(() => void read().catch(() => (isReading = false)), FIGURES_INTERVAL_MS).unref();
  return {
    writer: { module: new URL('./kafka-writer-module.ts', import.meta.url).href, options },
    spoolMaxBytes: settings.spool.max_bytes,
    get figures() {
      return figures;
    },
    async start(started) {
      thread = started;
      await read().catch((cause: unknown) => {
        throw new Fault('spool_unusable', { say: `queue.spool.path: ${settings.spool.path}: ${messageOf(cause)}`, cause });
      });
    },
    probe: async () => void (await call('probe')),
    [Symbol.dispose]: () => {
      clearInterval(timer);
      lines[Symbol.dispose]();
    },
  };
}

function plainOptions(settings: PublisherSettings): Omit<PublisherOptions, 'logChannel'> {
  const { topic, spool, max_record_bytes: maxRecordBytes } = settings;
  const { brokers, tls, sasl } = kafkaConnection('', settings);
  const { key, ...certificates } = tls ?? {};
  return {
    brokers,
    topic,
    maxRecordBytes,
    spool: { path: spool.path, maxBytes: spool.max_bytes },
    tls: tls === undefined ? undefined : { ...certificates, ...(key !== undefined && { key: key.reveal() }) },
    sasl: sasl === undefined ? undefined : { ...sasl, password: sasl.password.reveal() },
  };
}
