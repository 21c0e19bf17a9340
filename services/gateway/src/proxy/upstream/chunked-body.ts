import { checkCutTrailer, checkTrailer } from './head-syntax.ts';
import { valueIn } from './response-head.ts';
import { malformed } from './upstream-error.ts';

const SIZE_MAX_DIGITS = 8;
/** Size, extensions and their line end; and all trailers together. */
const LINE_MAX_BYTES = 4_096;
const TRAILERS_MAX_BYTES = 16_384;

const CR = 0x0d;
const LF = 0x0a;

/** A valid prefix of a line. */
const SIZE_START = /^[0-9A-Fa-f]{1,8}(?:\r|[\t ]*(?:;[\t\x20-\x7e\x80-\xff]*\r?)?)$/;

/** Receives the data. */
interface DataConsumer {
  onData(chunk: Buffer): void;
}

type State = 'size' | 'data' | 'data-end' | 'trailers' | 'ended';

/** Decodes the chunked coding of a body in any segmentation. Extensions are skipped. Source: RFC 9112, section 7.1. */
export class ChunkedBody {
  /** Alternating names and values. */
  readonly trailers: string[] = [];
  #state: State = 'size';
  #left = 0;
  /** The line being read, including its end. */
  #line = '';
  #trailerBytes = 0;
  #plainEnd = 0;

  get isEnded(): boolean {
    return this.#state === 'ended';
  }

  /** Decodes bytes, passes their data to `consumer`, and returns how many belonged to the body. Throws `malformed_response`. */
  push(bytes: Buffer, consumer: DataConsumer): number {
    let at = 0;
    while (at < bytes.length && this.#state !== 'ended') {
      if (this.#state === 'data') at = this.#takeData(bytes, at, consumer);
      else if (this.#line === '' && this.#takePlain(bytes, at)) at = this.#plainEnd;
      else at = this.#takeLine(bytes, at);
    }
    return at;
  }

  /** The connection has ended within the body. Throws `malformed_response` if the received part of a line cannot begin a valid one. */
  checkCut(): void {
    const line = this.#line;
    if (line === '') return;
    if (this.#state === 'size' && !SIZE_START.test(line)) throw malformed('invalid chunk size');
    if (this.#state === 'data-end' && line !== '\r') throw malformed('chunk longer than its size');
    if (this.#state === 'trailers') checkCutTrailer(line);
  }

  /** Fast path for nearly every line: complete, and only digits or empty. Without it, a stream of fifty chunks costs 60 µs more. */
  #takePlain(bytes: Buffer, from: number): boolean {
    let at = from;
    let size = 0;
    if (this.#state === 'size') {
      for (let digit = digitOf(bytes[at]); digit >= 0; digit = digitOf(bytes[at])) {
        size = size * 16 + digit;
        at += 1;
      }
      if (at === from || at - from > SIZE_MAX_DIGITS) return false;
    } else if (this.#state !== 'data-end') return false;
    if (bytes[at] !== CR || bytes[at + 1] !== LF) return false;
    this.#plainEnd = at + 2;
    if (this.#state === 'size') this.#beginData(size);
    else this.#state = 'size';
    return true;
  }

  #takeData(bytes: Buffer, at: number, consumer: DataConsumer): number {
    const end = Math.min(bytes.length, at + this.#left);
    consumer.onData(bytes.subarray(at, end));
    this.#left -= end - at;
    if (this.#left === 0) this.#state = 'data-end';
    return end;
  }

  /** Lines are short, so the available part of one is taken at once. */
  #takeLine(bytes: Buffer, at: number): number {
    const feed = bytes.indexOf(LF, at);
    const end = feed === -1 ? bytes.length : feed + 1;
    if (this.#line.length + end - at > LINE_MAX_BYTES)
      throw malformed(`chunk line or trailer longer than ${LINE_MAX_BYTES} bytes`);
    this.#line += bytes.toString('latin1', at, end);
    if (feed === -1) return end;
    const line = this.#line;
    this.#line = '';
    if (line.charCodeAt(line.length - 2) !== CR) throw malformed('chunk line or trailer ends without CR');
    this.#readLine(line.slice(0, -2));
    return end;
  }

  #readLine(line: string): void {
    if (this.#state === 'size') this.#readSize(line);
    else if (this.#state === 'data-end') this.#endData(line);
    else this.#readTrailer(line);
  }

  #readSize(line: string): void {
    const [digits = ''] = /^[0-9A-Fa-f]+/.exec(line) ?? [];
    const extension = line.slice(digits.length);
    if (digits === '' || digits.length > SIZE_MAX_DIGITS || !/^(?:[\t ]*;[\t\x20-\x7e\x80-\xff]*)?$/.test(extension))
      throw malformed('invalid chunk size');
    this.#beginData(Number.parseInt(digits, 16));
  }

  #beginData(size: number): void {
    this.#left = size;
    this.#state = size === 0 ? 'trailers' : 'data';
  }

  #endData(line: string): void {
    if (line !== '') throw malformed('chunk longer than its size');
    this.#state = 'size';
  }

  #readTrailer(line: string): void {
    this.#trailerBytes += line.length;
    if (this.#trailerBytes > TRAILERS_MAX_BYTES) throw malformed(`trailers longer than ${TRAILERS_MAX_BYTES} bytes`);
    if (line === '') {
      this.#state = 'ended';
      return;
    }
    checkTrailer(line);
    const colon = line.indexOf(':');
    this.trailers.push(line.slice(0, colon), valueIn(line, colon + 1, line.length));
  }
}

/** The value of a byte as a hexadecimal digit; -1 if it is none. */
function digitOf(byte: number | undefined): number {
  if (byte === undefined) return -1;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
