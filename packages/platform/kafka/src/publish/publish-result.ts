import type { KafkaRecord } from '../kafka-record.ts';

/** What became of a record. `unavailable`: no broker accepted it in time, so it may or may not be in the topic. `too_large`: neither the
 *  limit here nor the topic's allows it, and another attempt would end the same. `queue_full`: too many bytes wait to be published. */
export type PublishResult = 'published' | 'unavailable' | 'too_large' | 'queue_full';

/** Publishes records to one topic. */
export interface RecordPublisher {
  /** The results stand in the order of the records; never rejects. */
  publish(records: readonly KafkaRecord[]): Promise<readonly PublishResult[]>;
}
