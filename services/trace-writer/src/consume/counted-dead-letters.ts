import type { KafkaRecord } from '@vitrine/kafka/kafka-record';
import type { PublishResult, RecordPublisher } from '@vitrine/kafka/publish/publish-result';
import { FAILURE_CLASSES, type FailureClass } from '@vitrine/traces/record-writer';
import { DECODE_ERRORS } from './record-handler.ts';

/** The reasons with their own counter. Every other is `unknown`. */
const DEAD_LETTER_REASONS = [...DECODE_ERRORS, ...FAILURE_CLASSES] as const;
export type DeadLetterReason = (typeof DEAD_LETTER_REASONS)[number];

/** The last record that the store refused. */
export interface LastStoreDrop {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly errorClass: FailureClass;
}

/** Publishes dead letters and counts the published ones by reason. */
export class CountedDeadLetters implements RecordPublisher {
  readonly #counts = new Map<DeadLetterReason, number>(DEAD_LETTER_REASONS.map((reason) => [reason, 0]));
  readonly counts: ReadonlyMap<DeadLetterReason, number> = this.#counts;
  readonly #publisher: RecordPublisher;
  #lastStoreDrop: LastStoreDrop | undefined;

  constructor(publisher: RecordPublisher) {
    this.#publisher = publisher;
  }

  /** The last drop of a dead letter that the store refused. */
  get lastStoreDrop(): LastStoreDrop | undefined {
    return this.#lastStoreDrop;
  }

  async publish(records: readonly KafkaRecord[]): Promise<readonly PublishResult[]> {
    const results = await this.#publisher.publish(records);
    for (const [at, { headers }] of records.entries()) {
      if (results[at] !== 'published') continue;
      const reason = DEAD_LETTER_REASONS.find((known) => known === headers?.['dead-letter-error-class']) ?? 'unknown';
      this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + 1);
      const errorClass = FAILURE_CLASSES.find((known) => known === reason);
      if (errorClass !== undefined) this.#lastStoreDrop = { at: Date.now(), errorClass };
    }
    return results;
  }
}
