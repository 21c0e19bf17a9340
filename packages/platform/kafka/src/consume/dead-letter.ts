import type { KafkaRecord } from '../kafka-record.ts';
import type { RejectedRecord } from './consumed-record.ts';

const REASON_MAX_CHARACTERS = 500;

/** The topic for records of `topic` that cannot be processed. */
export function deadLetterTopic(topic: string): string {
  return `${topic}.dlq`;
}

/** The original record with headers for its source and the reason. */
export function deadLetter({ record, errorClass, reason }: RejectedRecord, attempts: number): KafkaRecord {
  const { topic, partition, offset, key, value, headers } = record;
  return {
    key: key ?? `${partition}-${offset}`,
    value,
    headers: {
      ...headers,
      'dead-letter-topic': topic,
      'dead-letter-partition': String(partition),
      'dead-letter-offset': offset,
      'dead-letter-error-class': errorClass,
      'dead-letter-reason': reason.slice(0, REASON_MAX_CHARACTERS),
      'dead-letter-attempts': String(attempts),
    },
  };
}
