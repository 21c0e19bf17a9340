import type { TraceRecord } from '../trace-record.ts';

/** What only one trace's page shows. */
export type Payload = Pick<TraceRecord, 'request_headers' | 'response_headers' | 'metadata' | 'request_body' | 'response_body'>;

/** Places in a page. */
export const PAYLOADS_PER_PAGE = 4_096;
/** A page that holds this much is full, or reading one trace would unpack too much. */
const FULL_BYTES = 4 * 1_048_576;
const FIRST_BYTES = 65_536;
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

/** Payloads laid out in one buffer: the lengths of all their fields, so that one is found without reading the others, then their
 *  texts. Texts are copied as they come. */
export class PayloadPage {
  count = 0;
  /** `created_at` of the newest trace in it. */
  newest = 0;
  readonly #lengths: number[] = [];
  #texts: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #at = 0;

  get isFull(): boolean {
    return this.count >= PAYLOADS_PER_PAGE || this.#at >= FULL_BYTES;
  }

  add(payload: Payload, createdAtMs: number): void {
    this.newest = Math.max(this.newest, createdAtMs);
    for (const field of FIELDS) {
      const text = payload[field];
      this.#lengths.push(text === undefined ? ABSENT : this.#write(text));
    }
    this.count += 1;
  }

  pack(): Buffer {
    return Buffer.concat([Buffer.from(new Uint32Array(this.#lengths).buffer), this.#texts.subarray(0, this.#at)]);
  }

  #write(text: string): number {
    const most = this.#at + BYTES_PER_UNIT * text.length;
    if (most > this.#texts.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(most, 2 * this.#texts.length));
      larger.set(this.#texts.subarray(0, this.#at));
      this.#texts = larger;
    }
    const length = this.#texts.write(text, this.#at);
    this.#at += length;
    return length;
  }
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
