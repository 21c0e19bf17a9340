import type { TraceRecord } from '@vitrine/traces/trace-record';

/** What only one trace's page shows. */
export type Payload = Pick<TraceRecord, 'request_headers' | 'response_headers' | 'metadata' | 'request_body' | 'response_body'>;

/** Places in a page. */
export const PAYLOADS_PER_PAGE = 4_096;
/** A page that holds this much is full, or reading one trace would unpack too much. */
const FULL_BYTES = 4 * 1_048_576;
const FIRST_BYTES = 65_536;
/** A larger buffer is not kept for the next page. */
const KEPT_MAX_BYTES = 2 * FULL_BYTES;
/** UTF-8 takes up to three bytes for a unit of a string. */
const BYTES_PER_UNIT = 3;

const FIELDS = [
  'request_headers',
  'response_headers',
  'metadata',
  'request_body',
  'response_body',
] as const satisfies (keyof Payload)[];
const ABSENT = 0xffff_ffff;
const LENGTH_BYTES = 4;
const TEXTS_AT = PAYLOADS_PER_PAGE * FIELDS.length * LENGTH_BYTES;

/** Payloads laid out in one buffer: the lengths of all their fields, so that one is found without reading the others, then their
 *  texts. Texts are copied as they come. One object serves page after page: fresh memory for each costs more than what is written. */
export class PayloadPage {
  count = 0;
  /** `created_at` of the newest trace in it. */
  newest = 0;
  readonly #lengths = new Uint32Array(PAYLOADS_PER_PAGE * FIELDS.length);
  /** Texts begin where the lengths of a whole page would end; those that there are are put right before them. */
  #buffer = emptyBuffer();
  #at = TEXTS_AT;

  get isFull(): boolean {
    return this.count >= PAYLOADS_PER_PAGE || this.#at - TEXTS_AT >= FULL_BYTES;
  }

  clear(): void {
    this.count = 0;
    this.newest = 0;
    this.#at = TEXTS_AT;
    if (this.#buffer.length > KEPT_MAX_BYTES) this.#buffer = emptyBuffer();
  }

  add(payload: Payload, createdAtMs: number): void {
    this.newest = Math.max(this.newest, createdAtMs);
    let entry = this.count * FIELDS.length;
    for (const field of FIELDS) {
      const text = payload[field];
      this.#lengths[entry++] = text === undefined ? ABSENT : this.#write(text);
    }
    this.count += 1;
  }

  /** Good until the page is changed. */
  pack(): Buffer {
    const lengths = new Uint8Array(this.#lengths.buffer, 0, this.count * FIELDS.length * LENGTH_BYTES);
    const start = TEXTS_AT - lengths.length;
    this.#buffer.set(lengths, start);
    return this.#buffer.subarray(start, this.#at);
  }

  #write(text: string): number {
    const most = this.#at + BYTES_PER_UNIT * text.length;
    if (most > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(most, 2 * this.#buffer.length));
      larger.set(this.#buffer.subarray(0, this.#at));
      this.#buffer = larger;
    }
    const length = this.#buffer.write(text, this.#at);
    this.#at += length;
    return length;
  }
}

function emptyBuffer(): Buffer {
  return Buffer.allocUnsafeSlow(TEXTS_AT + FIRST_BYTES);
}

/** The payload at `index` of a page of `count`. */
export function unpackPayload(page: Buffer, count: number, index: number): Payload {
  let at = count * FIELDS.length * LENGTH_BYTES;
  const lengthOf = (entry: number) => page.readUInt32LE(entry * LENGTH_BYTES);
  for (let entry = 0; entry < index * FIELDS.length; entry += 1) {
    const length = lengthOf(entry);
    if (length !== ABSENT) at += length;
  }
  const texts = FIELDS.map((_, field) => {
    const length = lengthOf(index * FIELDS.length + field);
    if (length === ABSENT) return undefined;
    at += length;
    return page.toString('utf8', at - length, at);
  });
  const [request_headers = '', response_headers = '', metadata = '{}', request_body, response_body] = texts;
  return { request_headers, response_headers, metadata, request_body, response_body };
}
