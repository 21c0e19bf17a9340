import type { EachBatchPayload, KafkaMessage } from 'kafkajs';
import { processBatch, type Hindrance, type ProcessorTools } from './batch-processor.ts';
import type { ConsumedRecord } from './consumed-record.ts';

/** The group keeps a member only as long as it sends heartbeats. */
export const HEARTBEAT_MS = 3_000;

interface FetchedTools extends ProcessorTools {
  readonly onCommit: (records: number) => void;
}

/** Processes the fetched records of one partition in parts, because a fetch may contain many small records, and commits each part. Rejects with
 *  errors of the group, which kafkajs handles. */
export async function processFetched(payload: EachBatchPayload, maxRecords: number, tools: FetchedTools): Promise<Hindrance> {
  const { topic, partition, messages } = payload.batch;
  for (let at = 0; at < messages.length && payload.isRunning() && !payload.isStale(); at += maxRecords) {
    const records = messages.slice(at, at + maxRecords).map(recordOf(topic, partition));
    const obstacle = await withHeartbeat(payload, () => processBatch(records, tools));
    const last = records.at(-1)?.offset;
    if (obstacle !== undefined || last === undefined) return obstacle;
    payload.resolveOffset(last);
    // Not `consumer.commitOffsets`, which does nothing once the consumer is stopping.
    const offset = String(BigInt(last) + 1n);
    await payload.commitOffsetsIfNecessary({ topics: [{ topic, partitions: [{ partition, offset }] }] });
    tools.onCommit(records.length);
    await payload.heartbeat();
  }
  return undefined;
}

async function withHeartbeat<T>(payload: EachBatchPayload, work: () => Promise<T>): Promise<T> {
  // The heartbeat after the part reports a rebalance again.
  const timer = setInterval(() => void payload.heartbeat().catch(() => {}), HEARTBEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

function recordOf(topic: string, partition: number) {
  return ({ offset, key, value, headers = {}, timestamp }: KafkaMessage): ConsumedRecord => {
    const texts = Object.entries(headers).map(([name, header]) => [name, String(header)] as const);
    return { topic, partition, offset, key, value, headers: Object.fromEntries(texts), timestamp: Number(timestamp) };
  };
}
