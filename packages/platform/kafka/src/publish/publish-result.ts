import type { KafkaRecord } from '../kafka-record.ts';

/** The result of publishing a record. `unavailable`: no broker accepted it in time, so it may or may not be in the topic. `too_large`:
 *  neither the
 *  limit here nor the topic's allows it, and another attempt would end the same. `queue_full`: too many bytes wait to be published. */
export type PublishResult = 'published' | 'unavailable' | 'too_large' | 'queue_full';

/** Publishes records to one topic. */
export interface RecordPublisher {
  /** Results are in the order of the records. Never rejects. */
  publish(records: readonly KafkaRecord[]): Promise<readonly PublishResult[]>;
}
