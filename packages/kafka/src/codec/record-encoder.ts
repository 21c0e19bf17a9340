import { recordBytesAtMost, type KafkaRecord } from '../kafka-record.ts';

/** Of a number of 32 bits. */
const MAX_VARINT_BYTES = 5;

/** Encodes records as a batch of Kafka's message format 2 holds them before its compression, all at the batch's own time. */
export class RecordEncoder {
  /** Used again, so that publishing leaves no large garbage; as large as the largest batch could be. What is never written takes no memory. */
  #bytes = Buffer.alloc(0);
  #at = 0;

  /** The result is overwritten by the next call. */
  encode(records: readonly KafkaRecord[]): Buffer {
    const bound = records.reduce((sum, record) => sum + recordBytesAtMost(record), 0);
    if (bound > this.#bytes.length) this.#bytes = Buffer.allocUnsafeSlow(bound);
    this.#at = 0;
    for (const [offset, record] of records.entries()) this.#addRecord(record, offset);
    return this.#bytes.subarray(0, this.#at);
  }

  #addRecord({ key, value, headers = {} }: KafkaRecord, offset: number): void {
    const start = this.#at;
    const bodyAt = start + MAX_VARINT_BYTES;
    this.#at = bodyAt;
    // No attributes, and no milliseconds after the time of the batch.
    this.#addVarint(0);
    this.#addVarint(0);
    this.#addVarint(offset);
    this.#addField(key);
    this.#addField(value);
    const names = Object.keys(headers);
    this.#addVarint(names.length);
    for (const name of names) {
      this.#addField(name);
      this.#addField(headers[name] ?? '');
    }
    this.#closeUp(start, bodyAt);
  }

  /** The length stands before the record and takes as few bytes as it needs, so that what follows moves to it. */
  #closeUp(start: number, bodyAt: number): void {
    const end = this.#at;
    this.#at = start;
    this.#addVarint(end - bodyAt);
    this.#bytes.copyWithin(this.#at, bodyAt, end);
    this.#at += end - bodyAt;
  }

  #addField(field: string | Buffer | null): void {
    if (field === null) return this.#addVarint(-1);
    if (typeof field === 'string') return this.#addText(field);
    this.#addVarint(field.length);
    this.#at += field.copy(this.#bytes, this.#at);
  }

  /** Written to its place, which makes no garbage. */
  #addText(text: string): void {
    const start = this.#at;
    const textAt = start + MAX_VARINT_BYTES;
    this.#at = textAt + this.#bytes.write(text, textAt);
    this.#closeUp(start, textAt);
  }

  #addVarint(value: number): void {
    let left = ((value << 1) ^ (value >> 31)) >>> 0;
    for (; left > 127; left >>>= 7) this.#bytes[this.#at++] = (left & 127) | 128;
    this.#bytes[this.#at++] = left;
  }
}
