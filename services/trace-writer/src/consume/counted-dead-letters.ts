import type { KafkaRecord } from '@vitrine/kafka/kafka-record';
import type { PublishResult, RecordPublisher } from '@vitrine/kafka/publish/publish-result';
import { FAILURE_CLASSES } from '@vitrine/traces/record-writer';
import { DECODE_ERRORS } from './decode-records.ts';

/** The reasons that are counted apart; every other is `unknown`. */
export const DEAD_LETTER_REASONS = [...DECODE_ERRORS, ...FAILURE_CLASSES] as const;
export type DeadLetterReason = (typeof DEAD_LETTER_REASONS)[number];

/** Publishes dead letters, and counts those that were published by reason. */
export class CountedDeadLetters implements RecordPublisher {
  readonly #publisher: RecordPublisher;
  readonly #counts = new Map<DeadLetterReason, number>(DEAD_LETTER_REASONS.map((reason) => [reason, 0]));

  constructor(publisher: RecordPublisher) {
    this.#publisher = publisher;
  }

  get counts(): ReadonlyMap<DeadLetterReason, number> {
    return this.#counts;
  }

  async publish(records: readonly KafkaRecord[]): Promise<readonly PublishResult[]> {
    const results = await this.#publisher.publish(records);
    for (const [at, { headers }] of records.entries()) {
      if (results[at] !== 'published') continue;
      const reason = DEAD_LETTER_REASONS.find((known) => known === headers?.['dead-letter-error-class']) ?? 'unknown';
      this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + 1);
    }
    return results;
  }
}
