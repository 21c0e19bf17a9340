import { withAdmin, withDeadline, type KafkaClient } from '../kafka-client.ts';

const TIMEOUT_MS = 4_000;

/** Records of `partitions` that the group has not committed. Uses a separate connection, because the consumer's may be waiting. */
export async function readLag(
  client: KafkaClient,
  { topic, groupId }: { readonly topic: string; readonly groupId: string },
  partitions: readonly number[],
): Promise<number> {
  const read = withAdmin(
    client,
    async (admin) => [await admin.fetchTopicOffsets(topic), await admin.fetchOffsets({ groupId, topics: [topic] })] as const,
  );
  const [ends, [group]] = await withDeadline(read, TIMEOUT_MS);
  const committed = new Map(group?.partitions.map(({ partition, offset }) => [partition, Number(offset)]));
  let lag = 0;
  for (const { partition, high, low } of ends) {
    // -1: nothing was committed, so the group begins at the oldest record.
    const offset = Math.max(committed.get(partition) ?? -1, Number(low));
    if (partitions.includes(partition)) lag += Math.max(0, Number(high) - offset);
  }
  return lag;
}
