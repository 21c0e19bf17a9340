/** A record as it was read from a topic. */
export interface ConsumedRecord {
  readonly topic: string;
  readonly partition: number;
  /** Decimal digits. */
  readonly offset: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds of the Unix epoch. */
  readonly timestamp: number;
}

/** A record that will never be processed: it is malformed, or of an unknown version. */
export interface RejectedRecord {
  readonly record: ConsumedRecord;
  readonly errorClass: string;
  /** Contains no data of the record. */
  readonly reason: string;
}

/** `done`: all records but the rejected ones are processed, durably. `unavailable`: the handler's store is unavailable, and the same records are
 *  delivered again when it is back. `deferred`: not now; they are delivered again at once, after a heartbeat to the group. */
export type HandlerResult =
  | { readonly status: 'done'; readonly rejected?: readonly RejectedRecord[] }
  | { readonly status: 'deferred' }
  | { readonly status: 'unavailable'; readonly errorClass: string; readonly reason: string };

/** Processes records of one partition, in order. Records may be delivered more than once. A thrown error counts as the fault of one record. */
export type RecordHandler = (records: readonly ConsumedRecord[]) => Promise<HandlerResult>;
