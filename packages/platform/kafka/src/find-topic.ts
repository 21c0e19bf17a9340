import type { KafkaClient } from './kafka-client.ts';

/** Rejects with kafkajs' error where no broker responds, or none of them has the topic. Creates nothing. */
export async function findTopic({ kafka }: KafkaClient, topic: string): Promise<void> {
  const admin = kafka.admin();
  try {
    await admin.connect();
    await admin.fetchTopicMetadata({ topics: [topic] });
  } finally {
    await admin.disconnect();
  }
}
