import { findTopic } from '@vitrine/kafka/find-topic';
import { createKafkaClient } from '@vitrine/kafka/kafka-client';
import { kafkaConnection } from '@vitrine/kafka/kafka-connection';
import { kafkaErrorFields } from '@vitrine/kafka/kafka-error';
import { messageOf } from '@vitrine/faults/fault';
import type { PublisherSettings } from '../trace-publisher/open-publisher.ts';
import { folderProblem } from './storage-problems.ts';

const CLIENT_ID = 'vitrine-gateway doctor';
const NO_LOG = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** The reasons why traces could be neither published nor spooled. Nothing is published: a record would become a trace. */
export async function queueProblems(settings: PublisherSettings): Promise<string[]> {
  const spool = folderProblem(settings.spool.path);
  return [await topicProblem(settings), spool === undefined ? undefined : `queue.spool.path: ${spool}`].filter(
    (problem) => problem !== undefined,
  );
}

async function topicProblem(settings: PublisherSettings): Promise<string | undefined> {
  const { topic, brokers } = settings;
  try {
    await findTopic(createKafkaClient(kafkaConnection(CLIENT_ID, settings), NO_LOG), topic);
    return undefined;
  } catch (error) {
    return `queue.topic ${topic} at ${brokers.join(', ')}: ${messageOf(error)}: ${kafkaErrorFields(error).next_step}`;
  }
}
