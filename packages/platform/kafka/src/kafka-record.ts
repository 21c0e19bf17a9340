export type RecordHeaders = Readonly<Record<string, string>>;

/** A record to publish. The key is required: kafkajs' retries of a record without one could reach two partitions. */
export interface KafkaRecord {
  readonly key: string | Buffer;
  /** Null deletes the key in a compacted topic. */
  readonly value: Buffer | null;
  readonly headers?: RecordHeaders;
}

/** Upper bound of Kafka's own fields per record and of its share of a batch. */
const OVERHEAD_BYTES = 100;
const HEADER_OVERHEAD_BYTES = 10;

/** An upper bound of a record's size in a batch, without compression. */
export function recordBytes({ key, value, headers = {} }: KafkaRecord): number {
  let bytes = OVERHEAD_BYTES + Buffer.byteLength(key) + (value?.length ?? 0);
  for (const [name, text] of Object.entries(headers)) {
    bytes += Buffer.byteLength(name) + Buffer.byteLength(text) + HEADER_OVERHEAD_BYTES;
  }
  return bytes;
}
