import { recordBytes, type KafkaRecord } from '../kafka-record.ts';
import type { PublishResult, RecordPublisher } from './publish-result.ts';

export interface BatchLimits {
  /** Records of one send. */
  readonly maxBatchRecords: number;
  /** Bytes of one send, except that one record may be larger. */
  readonly maxBatchBytes: number;
  /** How long a send that is not full waits for further records. */
  readonly lingerMs: number;
  readonly maxRecordBytes: number;
  /** Bytes that may wait beside the send in flight. */
  readonly maxPendingBytes: number;
}

/** A call of `publish`, and how many of its records are not settled. */
interface Call {
  readonly results: PublishResult[];
  open: number;
  readonly resolve: (results: readonly PublishResult[]) => void;
}

/** The record of a call at a place. No closure for each: these took a microsecond a record. */
interface PendingRecord {
  readonly record: KafkaRecord;
  readonly bytes: number;
  readonly call: Call;
  readonly at: number;
}

/** Collects records into sends by count, bytes and time, with one send in flight: kafkajs sends nothing later and joins nothing, and a
 *  batch of 200 costs a quarter of the CPU per record of single ones. Of records with keys, a send goes to all leaders of their partitions at once. */
export class RecordBatcher implements RecordPublisher {
  readonly #limits: BatchLimits;
  readonly #send: (records: readonly KafkaRecord[]) => Promise<readonly PublishResult[]>;
  #pending: PendingRecord[] = [];
  #pendingBytes = 0;
  #isSending = false;
  #endLinger: (() => void) | undefined;

  constructor(limits: BatchLimits, send: (records: readonly KafkaRecord[]) => Promise<readonly PublishResult[]>) {
    this.#limits = limits;
    this.#send = send;
  }

  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  publish(records: readonly KafkaRecord[]): Promise<readonly PublishResult[]> {
    const { promise, resolve } = Promise.withResolvers<readonly PublishResult[]>();
    const call: Call = { results: Array.from<PublishResult>({ length: records.length }), open: records.length, resolve };
    if (records.length === 0) resolve([]);
    for (const [at, record] of records.entries()) this.#add(record, call, at);
    if (this.#isFull()) this.#endLinger?.();
    if (!this.#isSending) void this.#sendAll();
    return promise;
  }

  #add(record: KafkaRecord, call: Call, at: number): void {
    const bytes = recordBytes(record);
    if (bytes > this.#limits.maxRecordBytes) return settle(call, at, 'too_large');
    if (this.#pendingBytes + bytes > this.#limits.maxPendingBytes) return settle(call, at, 'queue_full');
    this.#pending.push({ record, bytes, call, at });
    this.#pendingBytes += bytes;
  }

  #isFull(): boolean {
    return this.#pending.length >= this.#limits.maxBatchRecords || this.#pendingBytes >= this.#limits.maxBatchBytes;
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    while (this.#pending.length > 0) {
      if (!this.#isFull()) await this.#linger();
      const batch = this.#take();
      const results = await this.#send(batch.map(({ record }) => record));
      for (const [place, { call, at }] of batch.entries()) settle(call, at, results[place] ?? 'unavailable');
    }
    this.#isSending = false;
  }

  async #linger(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, this.#limits.lingerMs);
    this.#endLinger = resolve;
    await promise;
    clearTimeout(timer);
    this.#endLinger = undefined;
  }

  #take(): PendingRecord[] {
    const { maxBatchRecords, maxBatchBytes } = this.#limits;
    let count = 0;
    let bytes = 0;
    for (const next of this.#pending) {
      if (count === maxBatchRecords || (count > 0 && bytes + next.bytes > maxBatchBytes)) break;
      count += 1;
      bytes += next.bytes;
    }
    this.#pendingBytes -= bytes;
    return this.#pending.splice(0, count);
  }
}

function settle(call: Call, at: number, result: PublishResult): void {
  call.results[at] = result;
  call.open -= 1;
  if (call.open === 0) call.resolve(call.results);
}
