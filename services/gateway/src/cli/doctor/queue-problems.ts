import { createKafkaClient } from '@vitrine/kafka/kafka-client';
import { kafkaConnection } from '@vitrine/kafka/kafka-connection';
import { kafkaErrorFields } from '@vitrine/kafka/kafka-error';
import { tryPublishing } from '@vitrine/kafka/publish/try-publishing';
import { TOPIC_CHECK_HEADER } from '@vitrine/traces/topic-check';
import { messageOf } from '@vitrine/faults/fault';
import type { PublisherSettings } from '../../recording/publisher/open-publisher.ts';
import { folderProblem } from './storage-problems.ts';

const CLIENT_ID = 'vitrine-gateway doctor';
const NO_LOG = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** The reasons why traces could be neither published nor spooled. One record is published, which trace-writers skip. */
export async function queueProblems(settings: PublisherSettings): Promise<string[]> {
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
