/** A strict reader of a provider's response by RFC 9112 (sections 4 to 7), independent of the gateway's own reader. */
export interface Reference {
  /** `partial`: more bytes could complete the response; `malformed`: no bytes could. */
  readonly end: 'whole' | 'partial' | 'malformed';
  /** Of the final response, when it has come. */
  readonly head: ReferenceHead | undefined;
  /** The bytes so far, without the transfer coding. */
  readonly body: string;
  /** After a chunked body that is complete. */
  readonly trailers: ReferenceHead['headers'];
  /** Whether the end of the connection ends the body. */
  readonly isUntilClose: boolean;
  /** Bytes after a complete response. */
  readonly surplus: number;
}

export interface ReferenceHead {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

class Malformed extends Error {}
class Partial extends Error {}

const TOKEN = new Set("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
const HEX = new Set('0123456789abcdefABCDEF');
const DIGITS = new Set('0123456789');
const isText = (byte: string) => byte === '\t' || (byte >= ' ' && byte !== '\x7f');

/** Reads the bytes once. Throws `Partial` at their end. */
class Cursor {
  readonly #bytes: string;
  #at = 0;

  constructor(bytes: string) {
    this.#bytes = bytes;
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  peek(): string {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new Partial();
    return byte;
  }

  next(): string {
    const byte = this.peek();
    this.#at += 1;
    return byte;
  }

  one(allowed: { has(byte: string): boolean }): string {
    const byte = this.next();
    if (!allowed.has(byte)) throw new Malformed();
    return byte;
  }

  literal(text: string): void {
    for (const expected of text) if (this.next() !== expected) throw new Malformed();
  }

  /** Text up to the line's end, which is consumed too. */
  restOfLine(isAllowed: (byte: string) => boolean): string {
    let text = '';
    while (this.peek() !== '\r') {
      const byte = this.next();
      if (!isAllowed(byte)) throw new Malformed();
      text += byte;
    }
    this.literal('\r\n');
    return text;
  }

  /** Up to `length` bytes. */
  upTo(length: number): string {
    const taken = this.#bytes.slice(this.#at, this.#at + length);
    this.#at += taken.length;
    return taken;
  }
}

export function referenceResponse(bytes: Uint8Array, method: string): Reference {
  const cursor = new Cursor(Buffer.from(bytes).toString('latin1'));
  const read: Read = { head: undefined, body: '', trailers: [], isUntilClose: false };
  try {
    readResponse(cursor, method, read);
    return { end: 'whole', ...read, surplus: cursor.left };
  } catch (error) {
    if (error instanceof Partial) return { end: 'partial', ...read, surplus: 0 };
    if (error instanceof Malformed) return { end: 'malformed', ...read, surplus: 0 };
    throw error;
  }
}

type Read = { -readonly [Field in 'head' | 'body' | 'trailers' | 'isUntilClose']: Reference[Field] };

function readResponse(cursor: Cursor, method: string, read: Read) {
  for (let informational = 0; ; informational += 1) {
    const head = readHead(cursor);
    const length = lengthOf(head);
    // No upgrade was requested; and informational responses need a bound.
    if (head.status === 101 || informational > 16) throw new Malformed();
    if (head.status < 200) continue;
    read.head = head;
    if (method === 'HEAD' || head.status === 204 || head.status === 304) return;
    if (length === 'chunked') {
      readChunks(cursor, (data) => (read.body += data));
      read.trailers = readFields(cursor);
      return;
    }
    read.isUntilClose = length === undefined;
    read.body = cursor.upTo(length ?? Infinity);
    if (read.body.length < (length ?? Infinity)) throw new Partial();
    return;
  }
}

function readHead(cursor: Cursor): ReferenceHead {
  cursor.literal('HTTP/1.');
  cursor.one(new Set('01'));
  cursor.literal(' ');
  const status = Number(cursor.one(new Set('123456789')) + cursor.one(DIGITS) + cursor.one(DIGITS));
  if (cursor.peek() === ' ') cursor.restOfLine(isText);
  else cursor.literal('\r\n');
  return { status, headers: readFields(cursor) };
}

/** Header lines or trailers, and the empty line after them. */
function readFields(cursor: Cursor): [string, string][] {
  const fields: [string, string][] = [];
  while (cursor.peek() !== '\r') {
    let name = cursor.one(TOKEN);
    while (cursor.peek() !== ':') name += cursor.one(TOKEN);
    cursor.literal(':');
    fields.push([name, cursor.restOfLine(isText).replace(/^[\t ]+|[\t ]+$/g, '')]);
  }
  cursor.literal('\r\n');
  return fields;
}

/** The length of the body by its headers. */
function lengthOf({ headers }: ReferenceHead): number | 'chunked' | undefined {
  const valuesOf = (wanted: string) => headers.filter(([name]) => name.toLowerCase() === wanted).map(([, value]) => value);
  const lengths = valuesOf('content-length');
  const codings = valuesOf('transfer-encoding');
  if (lengths.length + codings.length > 1) throw new Malformed();
  const [length = ''] = lengths;
  if (lengths.length === 1 && (length === '' || length.length > 15 || /[^0-9]/.test(length))) throw new Malformed();
  if (codings.length === 1 && codings[0]?.toLowerCase() !== 'chunked') throw new Malformed();
  if (codings.length === 1) return 'chunked';
  return lengths.length === 1 ? Number(length) : undefined;
}

function readChunks(cursor: Cursor, onData: (data: string) => void): void {
  for (;;) {
    let digits = cursor.one(HEX);
    while (HEX.has(cursor.peek())) {
      digits += cursor.next();
      if (digits.length > 8) throw new Malformed();
    }
    readExtension(cursor);
    const size = Number.parseInt(digits, 16);
    if (size === 0) break;
    const data = cursor.upTo(size);
    onData(data);
    if (data.length < size) throw new Partial();
    cursor.literal('\r\n');
  }
}

function readExtension(cursor: Cursor): void {
  while (cursor.peek() === ' ' || cursor.peek() === '\t') {
    cursor.next();
    if (cursor.peek() === '\r') throw new Malformed();
  }
  if (cursor.peek() === ';') cursor.restOfLine(isText);
  else cursor.literal('\r\n');
}
