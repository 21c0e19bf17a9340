// Opens the publisher of traces on the thread that derives them: a `WriterModule`.
import { Secret } from '@vitrine/config/secret';
import { createKafkaClient } from '@vitrine/kafka/kafka-client';
import { KafkaPublisher } from '@vitrine/kafka/publish/kafka-publisher';
import { DiskSpool } from '@vitrine/kafka/spool/disk-spool';
import { SpoolingPublisher } from '@vitrine/kafka/spooling-publisher';
import { probeFolder } from '@vitrine/sqlite/probe-folder';
import type { OpenRecordWriter } from '@vitrine/traces/writer-thread';
import { channelLog } from './log-channel.ts';
import type { PublisherFigures, PublisherOptions } from './publisher-options.ts';
import { PublishingWriter } from './publishing-writer.ts';

const CLIENT_ID = 'vitrine-gateway';
/** Must be shorter than the 4 s by which a thread may delay the end of the process. */
const DRAIN_MS = 2_500;

/** A call of the main thread: `probe` throws when a trace could be neither published nor spooled now. */
export type PublisherCall = 'figures' | 'probe';

export async function openRecordWriter(given: unknown): Promise<OpenRecordWriter> {
  const options = given as PublisherOptions;
  await using opened = new AsyncDisposableStack();
  const log = opened.use(channelLog(options.logChannel));
  const client = createKafkaClient(connectionOf(options), log);
  const { topic, maxRecordBytes } = options;
  const spool = await DiskSpool.open(options.spool);
  const publisher = opened.use(new KafkaPublisher(client, { topic, maxRecordBytes }));
  const spooling = opened.use(new SpoolingPublisher(publisher, spool, log));
  const writer = new PublishingWriter({ publish: (records) => spooling.write(records), maxRecordBytes });
  const figures = (): PublisherFigures => ({
    ...spooling.figures,
    isConnected: publisher.isReady,
    failedBy: publisher.failedBy,
    withoutBodies: writer.withoutBodies,
  });
  const probe = () => {
    if (publisher.isReady && spool.records === 0) return;
    if (spool.bytes >= options.spool.maxBytes) throw new Error('the spool is full');
    probeFolder(options.spool.path);
  };
  const running = opened.move();
  return {
    write: (records) => writer.write(records),
    call: (argument) => ((argument as PublisherCall) === 'probe' ? probe() : figures()),
    async close() {
      if (publisher.isReady) await spooling.drain(DRAIN_MS);
      await running.disposeAsync();
    },
  };
}

function connectionOf({ brokers, tls, sasl }: PublisherOptions) {
  const { key, ...certificates } = tls ?? {};
  return {
    clientId: CLIENT_ID,
    brokers,
    tls: tls === undefined ? undefined : { ...certificates, ...(key !== undefined && { key: new Secret(key) }) },
    sasl: sasl === undefined ? undefined : { ...sasl, password: new Secret(sasl.password) },
  };
}
