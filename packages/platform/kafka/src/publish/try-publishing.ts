import type { KafkaClient } from '../kafka-client.ts';
import { findTopic } from '../find-topic.ts';
import type { KafkaRecord } from '../kafka-record.ts';

/** Publishes one record, once and acknowledged by all replicas. Rejects with kafkajs' error where a publisher of this user could not
 *  either. */
export async function tryPublishing(
  client: KafkaClient,
  topic: string,
  { key, value, headers = {} }: KafkaRecord,
): Promise<void> {
  // A producer would only say that it knows no leader.
  await findTopic(client, topic);
  const producer = client.kafka.producer({ allowAutoTopicCreation: false, idempotent: true, maxInFlightRequests: 1 });
  try {
    await producer.connect();
    await producer.send({ topic, acks: -1, messages: [{ key, value, headers }] });
  } finally {
    await producer.disconnect();
  }
}
