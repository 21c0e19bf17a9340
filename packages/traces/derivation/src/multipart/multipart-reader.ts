import { FormPart, HEAD_MAX_BYTES, type FormField, type FormFile } from './form-part.ts';

/** The contents of a `multipart/form-data` body. */
export interface FormFacts {
  /** The fields that select a model or affect its price, in order. A name may occur more than once. */
  readonly fields: readonly FormField[];
  /** The files in order. The last one of a cut body may be cut. */
  readonly files: readonly FormFile[];
  /** Length of all text fields. */
  readonly textBytes: number;
  /** Whether a part that may matter was not read, because of a bound. */
  readonly isIncomplete: boolean;
  /** Whether the closing boundary was seen. */
  readonly ended: boolean;
}

const MAX_PARTS = 1_000;
const MAX_REMEMBERED = 64;
/** Between a boundary and the end of its line. */
const MAX_BLANKS = 32;
const [TAB, LF, CR, SPACE, HYPHEN] = [9, 10, 13, 32, 45];

/** Reads a `multipart/form-data` body that arrives in chunks. Constant memory, never throws, and independent of the segmentation. 0.1 ns a
 *  byte of a file. Lines end in CRLF, or in LF if that of the first boundary does. Spec: RFC 7578, RFC 2046 (5.1.1). */
export class MultipartReader {
  readonly #boundary: string;
  readonly #memory = Buffer.allocUnsafeSlow(HEAD_MAX_BYTES);
  readonly #fields: FormField[] = [];
  readonly #files: FormFile[] = [];
  /** What ends a part: a line end, two hyphens and the boundary. */
  #delimiter: Buffer;
  /** The end of the last chunk, which may begin a delimiter. Initially a line end, because a delimiter may begin the body. */
  #carry: Buffer = Buffer.from('\n');
  /** Undefined in the preamble. */
  #part: FormPart | undefined;
  #parts = 0;
  #textBytes = 0;
  #isIncomplete = false;
  #ended = false;
  /** Whether the rest of the body is ignored. */
  #isOver = false;

  constructor(boundary: string) {
    this.#boundary = boundary;
    this.#delimiter = Buffer.from(`\n--${boundary}`);
  }

  push(chunk: Uint8Array): void {
    if (this.#isOver) return;
    const carry = this.#carry;
    const bytes = carry.length > 0 ? Buffer.concat([carry, chunk]) : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    let start = 0;
    for (let from = 0; ;) {
      const at = bytes.indexOf(this.#delimiter, from);
      const line = at < 0 ? undefined : lineAfter(bytes, at + this.#delimiter.length);
      if (line === undefined) {
        const end = at < 0 ? this.#delimiterStart(bytes, from) : at;
        this.#part?.push(bytes.subarray(start, end));
        // A copy, because the chunk may be overwritten.
        this.#carry = Buffer.from(bytes.subarray(end));
        return;
      }
      from = at + 1;
      if (line === 'content') continue;
      this.#part?.push(bytes.subarray(start, at));
      this.#endPart(true);
      this.#ended = this.#isOver = line === 'close';
      if (line === 'close') return;
      // The next delimiter may begin with the line end of this one.
      start = from = at + this.#delimiter.length;
      if (!this.#beginPart(line)) return;
    }
  }

  /** The facts; for a cut body, those before the cut. */
  end(): FormFacts {
    if (!this.#isOver) this.#part?.push(this.#carry);
    this.#isOver = true;
    this.#endPart(false);
    return {
      fields: this.#fields,
      files: this.#files,
      textBytes: this.#textBytes,
      isIncomplete: this.#isIncomplete,
      ended: this.#ended,
    };
  }

  /** Where a delimiter may begin whose end is in the next chunk; the length of `bytes` if nowhere. */
  #delimiterStart(bytes: Buffer, from: number): number {
    const delimiter = this.#delimiter;
    // Only the first byte of a delimiter is the first byte of a line end.
    const tail = bytes.subarray(Math.max(from, bytes.length - delimiter.length));
    const at = tail.lastIndexOf(delimiter.subarray(0, 1));
    return at >= 0 && delimiter.indexOf(tail.subarray(at)) === 0 ? bytes.length - tail.length + at : bytes.length;
  }

  /** False if there are too many parts. */
  #beginPart(lineEnd: string): boolean {
    if (this.#parts === 0) this.#delimiter = Buffer.from(`${lineEnd}--${this.#boundary}`);
    this.#isIncomplete ||= this.#isOver = this.#parts === MAX_PARTS;
    this.#parts += 1;
    this.#part = new FormPart(this.#memory, lineEnd);
    return !this.#isOver;
  }

  /** Without `isWhole` its end is missing, and half a value is worse than none. */
  #endPart(isWhole: boolean): void {
    const part = this.#part;
    if (part === undefined) return;
    this.#part = undefined;
    this.#textBytes += part.textBytes;
    this.#isIncomplete ||= part.isTooLong;
    if (isWhole) this.#remember(this.#fields, part.field);
    this.#remember(this.#files, part.file);
  }

  #remember<T>(list: T[], one: T | undefined): void {
    if (one === undefined) return;
    if (list.length < MAX_REMEMBERED) list.push(one);
    else this.#isIncomplete = true;
  }
}

/** What a boundary begins: with a line end a part; undefined if that needs more bytes. Other text makes it content, as most servers read it. */
function lineAfter(bytes: Buffer, from: number): 'close' | 'content' | '\r\n' | '\n' | undefined {
  const [first, second] = [bytes[from], bytes[from + 1]];
  if (first === HYPHEN) return second === undefined ? undefined : second === HYPHEN ? 'close' : 'content';
  let at = from;
  while ((bytes[at] === SPACE || bytes[at] === TAB) && at < from + MAX_BLANKS) at += 1;
  const lineFeed = bytes[at] === CR ? at + 1 : at;
  if (bytes[lineFeed] === LF) return lineFeed > at ? '\r\n' : '\n';
  return lineFeed < bytes.length ? 'content' : undefined;
}
