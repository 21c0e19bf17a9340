import { NO_FACTS, type BodyFacts } from './body-facts.ts';
import { openBodyFactsReader } from './body-facts-reader.ts';
import type { CapturedBody } from './captured-exchange.ts';
import { decodeFar } from './decode.ts';
import { heldBytes } from './exchange-batch.ts';

/** Limit of a decoded body. Only a compression bomb expands beyond it from so few bytes. */
const DECODED_MAX_BYTES = 16 * 1_048_576;

/** The body of one direction, joined, decoded and read at most once and only when needed. */
export class OpenBody {
  readonly captured: CapturedBody;
  /** Whether the captured bytes are all that passed. */
  readonly whole: boolean;
  #raw: Buffer | undefined;
  #unpacked: { readonly found: ReturnType<typeof decodeFar> } | undefined;
  #read: { readonly facts: BodyFacts | undefined } | undefined;

  constructor(captured: CapturedBody) {
    this.captured = captured;
    this.whole = heldBytes(captured) === captured.bytes;
  }

  raw(): Buffer {
    const [only, ...more] = this.captured.chunks;
    // A single chunk, as from another thread, is not copied.
    if (only !== undefined && more.length === 0) return Buffer.from(only.buffer, only.byteOffset, only.byteLength);
    return (this.#raw ??= Buffer.concat(this.captured.chunks));
  }

  /** Undefined when its content coding is unknown or broken. One that merely ends early is decoded as far as possible. */
  decoded(): Buffer | undefined {
    const { coding, ending } = this.captured;
    if (coding === '' || coding === 'identity') return this.raw();
    const complete = this.whole && ending !== 'cut';
    this.#unpacked ??= { found: decodeFar(coding, this.raw(), { maxBytes: DECODED_MAX_BYTES, complete }) };
    return this.#unpacked.found?.decoded;
  }

  /** Whether `decoded` returned only a beginning, because the content coding ended early. Set by `decoded`. */
  get endsEarly(): boolean {
    return this.#unpacked?.found?.endsEarly === true;
  }

  /** Its facts; undefined when it cannot be decoded. */
  facts(): BodyFacts | undefined {
    return (this.#read ??= { facts: this.#readFacts() }).facts;
  }

  /** Bytes when decoded, as far as that is known. */
  get size(): number {
    return this.facts()?.text?.bytes ?? (this.whole ? this.decoded()?.length : undefined) ?? this.captured.bytes;
  }

  /** Whether its text contains `word`; true when it is not known. */
  mentions(word: string): boolean {
    if (this.captured.bytes === 0) return false;
    return !this.whole || this.decoded()?.includes(word) !== false;
  }

  #readFacts(): BodyFacts | undefined {
    const { facts, kind, bytes, boundary } = this.captured;
    if (facts !== undefined) return facts === 'undecodable' ? undefined : facts;
    if (kind === undefined || bytes === 0) return NO_FACTS;
    const body = this.decoded();
    if (body === undefined) return undefined;
    const reader = openBodyFactsReader(kind, boundary);
    reader.push(body);
    return reader.end();
  }
}
