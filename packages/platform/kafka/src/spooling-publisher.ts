import { setTimeout as wait } from 'node:timers/promises';
import type { KafkaLog } from './kafka-log.ts';
import type { KafkaRecord } from './kafka-record.ts';
import type { PublishResult, RecordPublisher } from './publish/publish-result.ts';
import type { DiskSpool, SpoolResult } from './spool/disk-spool.ts';

const DRAIN_BATCH_RECORDS = 500;
const DRAIN_RETRY_MS = 250;
const DISK_RETRY_MS = 5_000;

const AT = 'docs/failure-modes.md#traces-in-the-spool';
const AFTER_EARLIER = `they are published when a broker responds; damaged ones are lost: ${AT}`;
const AFTER_REST = `start a process with the same queue.spool.path, which publishes them: ${AT}`;
const AFTER_DISK_ERROR = `look at err and at the disk of queue.spool.path: ${AT}`;
const AFTER_OUTAGE = `look at the brokers of queue.brokers: ${AT}`;
const AFTER_TOO_LARGE = `raise max.message.bytes of the topic: ${AT}`;

export type WriteResult = 'published' | SpoolResult | 'too_large';

export interface SpoolFigures {
  readonly spooledRecords: number;
  readonly spooledBytes: number;
  /** Since when the spool has had records, in milliseconds since the epoch, at the earliest since the start of this process. Undefined when empty. */
  readonly spoolingSince: number | undefined;
  /** Records published from the spool. */
  readonly drainedRecords: number;
  /** Records of the spool that the topic refused as too large. */
  readonly drainedTooLarge: number;
  readonly damagedRecords: number;
}

/** The required part of a publisher, implemented by `KafkaPublisher`. */
interface ReadyPublisher extends RecordPublisher {
  readonly isReady: boolean;
}

/** Publishes records, or spools them on disk while that is not possible and publishes them later, in order. While the spool has records, new ones
 *  are spooled after them. While its last file is published, new records wait instead, because otherwise a constant load would be spooled forever.
 *  A record may be published twice with the same key. A record is lost only if its result says so. */
export class SpoolingPublisher implements AsyncDisposable {
  readonly #publisher: ReadyPublisher;
  readonly #spool: DiskSpool;
  readonly #log: KafkaLog;
  readonly #closing = new AbortController();
  /** Serializes calls of the spool. */
  #spoolCalls: Promise<unknown> = Promise.resolve();
  #draining: Promise<void> | undefined;
  /** Set while the last file is being published, until the spool is empty. */
  #lastFile: PromiseWithResolvers<void> | undefined;
  #drainedRecords = 0;
  #drainedTooLarge = 0;
  #spoolingSince: number | undefined;

  /** Closes the spool itself. The caller closes the publisher afterwards. */
  constructor(publisher: ReadyPublisher, spool: DiskSpool, log: KafkaLog) {
    this.#publisher = publisher;
    this.#spool = spool;
    this.#log = log;
    const { records, bytes, damaged } = spool;
    if (records > 0) this.#spoolingSince = Date.now();
    if (records + damaged > 0)
      log.warn({ records, bytes, damaged, next_step: AFTER_EARLIER }, 'spool contains records of an earlier process');
    this.#startDraining();
  }

  get figures(): SpoolFigures {
    return {
      spooledRecords: this.#spool.records,
      spooledBytes: this.#spool.bytes,
      spoolingSince: this.#spool.records > 0 ? this.#spoolingSince : undefined,
      drainedRecords: this.#drainedRecords,
      drainedTooLarge: this.#drainedTooLarge,
      damagedRecords: this.#spool.damaged,
    };
  }

  /** Results are in the order of the records. Never rejects. */
  async write(records: readonly KafkaRecord[]): Promise<readonly WriteResult[]> {
    await this.#lastFile?.promise;
    const isDirect = this.#spool.records === 0;
    const published: readonly PublishResult[] = isDirect
      ? await this.#publisher.publish(records)
      : records.map(() => 'unavailable');
    const isLeft = (at: number) => published[at] === 'unavailable' || published[at] === 'queue_full';
    const left = records.filter((_, at) => isLeft(at));
    const spooled = (await this.#append(left)).values();
    return published.map((result, at) => (isLeft(at) ? (spooled.next().value ?? 'spool_failed') : (result as WriteResult)));
  }

  /** Publishes records of the spool for at most `timeoutMs`. Resolves to the number of records left on disk. */
  async drain(timeoutMs: number): Promise<number> {
    const deadline = performance.now() + timeoutMs;
    while (this.#draining !== undefined && performance.now() < deadline) {
      await Promise.race([this.#draining, wait(DRAIN_RETRY_MS)]);
    }
    return this.#spool.records;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#draining;
    await this.#serialize(() => this.#spool[Symbol.asyncDispose]());
    const { records, bytes } = this.#spool;
    if (records > 0) this.#log.warn({ records, bytes, next_step: AFTER_REST }, 'records left in the spool');
  }

  async #append(records: readonly KafkaRecord[]): Promise<readonly SpoolResult[]> {
    if (records.length === 0) return [];
    if (this.#closing.signal.aborted) return records.map(() => 'spool_failed');
    const isFirst = this.#spool.records === 0;
    const onError = (err: unknown) =>
      this.#log.error({ err, records: records.length, next_step: AFTER_DISK_ERROR }, 'spool write failed');
    const results = await this.#serialize(() => this.#spool.append(records, onError));
    if (isFirst && this.#spool.records > 0) {
      this.#spoolingSince = Date.now();
      this.#log.warn({ next_step: AFTER_OUTAGE }, 'spooling records');
    }
    this.#startDraining();
    return results;
  }

  #serialize<T>(call: () => Promise<T>): Promise<T> {
    const result = this.#spoolCalls.then(call);
    this.#spoolCalls = result.catch(() => {});
    return result;
  }

  #startDraining(): void {
    if (this.#draining !== undefined || this.#spool.records === 0) return;
    this.#draining = this.#drainAll().finally(() => {
      this.#draining = undefined;
      this.#endLastFile();
      if (!this.#closing.signal.aborted) this.#startDraining();
    });
  }

  async #drainAll(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        const segment = await this.#serialize(() => this.#spool.oldest());
        if (segment === undefined) return;
        if (this.#spool.files === 1 && this.#publisher.isReady) this.#lastFile ??= Promise.withResolvers();
        if (!(await this.#publishAll(segment.records))) return;
        await this.#serialize(() => segment.remove());
        if (this.#spool.records === 0) this.#log.info({ drained: this.#drainedRecords }, 'spool drained');
      } catch (error) {
        this.#log.error({ err: error, next_step: AFTER_DISK_ERROR }, 'spool read failed');
        this.#endLastFile();
        await wait(DISK_RETRY_MS, undefined, { signal }).catch(() => {});
      }
    }
  }

  #endLastFile(): void {
    this.#lastFile?.resolve();
    this.#lastFile = undefined;
  }

  /** Returns false when aborted. */
  async #publishAll(records: readonly KafkaRecord[]): Promise<boolean> {
    const { signal } = this.#closing;
    let left = records;
    while (left.length > 0) {
      if (signal.aborted) return false;
      const batch = left.slice(0, DRAIN_BATCH_RECORDS);
      const results = this.#publisher.isReady ? await this.#publisher.publish(batch) : batch.map(() => 'unavailable' as const);
      const failed = batch.filter((_, at) => results[at] === 'unavailable' || results[at] === 'queue_full');
      const tooLarge = results.filter((result) => result === 'too_large').length;
      if (tooLarge > 0)
        this.#log.error({ records: tooLarge, next_step: AFTER_TOO_LARGE }, 'spooled records dropped: too large for the topic');
      this.#drainedTooLarge += tooLarge;
      this.#drainedRecords += batch.length - failed.length - tooLarge;
      left = [...failed, ...left.slice(batch.length)];
      if (failed.length === 0) continue;
      this.#endLastFile();
      await wait(DRAIN_RETRY_MS, undefined, { signal }).catch(() => {});
    }
    return true;
  }
}
