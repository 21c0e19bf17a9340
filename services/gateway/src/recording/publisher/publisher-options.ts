import type { KafkaErrorClass } from '@vitrine/kafka/kafka-error';
import type { SpoolFigures } from '@vitrine/kafka/spooling-publisher';
import type { KafkaSasl } from '@vitrine/kafka/kafka-client';

/** Start options of the publishing thread. Plain data, because it is passed as a structured clone. */
export interface PublisherOptions {
  readonly brokers: readonly string[];
  readonly topic: string;
  /** PEM texts. */
  readonly tls: { readonly ca?: string; readonly cert?: string; readonly key?: string } | undefined;
  readonly sasl: { readonly mechanism: KafkaSasl['mechanism']; readonly username: string; readonly password: string } | undefined;
  readonly spool: { readonly path: string; readonly maxBytes: number };
  readonly maxRecordBytes: number;
  /** Name of the channel for log lines; see `LogChannel`. */
  readonly logChannel: string;
}

/** State of the publisher beyond the results of its batches. */
export interface PublisherFigures extends SpoolFigures {
  /** Whether a broker was reached and no send has failed since. */
  readonly isConnected: boolean;
  /** Why records cannot be published, such as a missing topic; undefined while nothing has failed. */
  readonly failedBy: KafkaErrorClass | undefined;
  /** Records that were published or spooled without their bodies, because they were too large. */
  readonly withoutBodies: number;
}

export const NO_FIGURES: PublisherFigures = {
  spooledRecords: 0,
  spooledBytes: 0,
  spoolingSince: undefined,
  drainedRecords: 0,
  drainedTooLarge: 0,
  damagedRecords: 0,
  isConnected: false,
  failedBy: undefined,
  withoutBodies: 0,
};
