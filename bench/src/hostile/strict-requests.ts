/** A request as the strict reading of RFC 9112 finds it. */
export interface StrictRequest {
  readonly method: string;
  readonly target: string;
}

export interface StrictReading {
  /** Those that came to their end, and how many characters they and the empty lines between them take. */
  readonly whole: readonly StrictRequest[];
  readonly consumed: number;
  /** One with a complete head and an incomplete body. */
  readonly begun: StrictRequest | undefined;
  /** Why the bytes after the complete requests are not a request; undefined when the bytes just stop. */
  readonly refusal: string | undefined;
}

/** Readers that accept more than one space around the target and readers that split at white space agree (RFC 9112, section 3). */
const REQUEST_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+) +([\x21-\x7e\x80-\xff]+) +HTTP\/1\.([01])$/;
const FIELD_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[\t ]*((?:[\t \x21-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)[\t ]*$/;
const CHUNK_SIZE = /^([0-9A-Fa-f]{1,15})(?:[\t ]*;[\t \x21-\x7e\x80-\xff]*)?$/;

/** Reads requests as narrowly as RFC 9112 allows, and stops at anything that another reader might interpret differently: bare line
 *  feeds, folded
 *  lines, two lengths, a length beside a transfer coding, any coding but chunked. Independent of Node's parser and of the gateway's. */
export function readStrictly(text: string): StrictReading {
  const whole: StrictRequest[] = [];
  let at = 0;
  for (;;) {
    const consumed = at;
    // A reader may skip empty lines before a request (2.2), and no reader can interpret one as a request.
    while (text[at] === '\r' || text[at] === '\n') at += 1;
    if (at >= text.length) return { whole, consumed, begun: undefined, refusal: undefined };
    const head = readHead(text, at);
    if ('refusal' in head) return { whole, consumed, begun: undefined, refusal: head.refusal };
    if ('stops' in head) return { whole, consumed, begun: undefined, refusal: undefined };
    const body = head.isChunked ? readChunked(text, head.end) : readLength(text, head.end, head.length);
    if ('refusal' in body) return { whole, consumed, begun: head.request, refusal: body.refusal };
    if ('stops' in body) return { whole, consumed, begun: head.request, refusal: undefined };
    whole.push(head.request);
    at = body.end;
  }
}

type Stops = { readonly stops: true };
type Refused = { readonly refusal: string };
interface Head {
  readonly request: StrictRequest;
  readonly isChunked: boolean;
  readonly length: number;
  readonly end: number;
}

const STOPS: Stops = { stops: true };

function readHead(text: string, from: number): Head | Stops | Refused {
  const first = readLine(text, from);
  if (!('line' in first)) return first;
  const [, method = '', target = '', minor] = REQUEST_LINE.exec(first.line) ?? [];
  if (minor === undefined) return { refusal: 'request line' };
  let at = first.end;
  const fields: [name: string, value: string][] = [];
  for (;;) {
    const next = readLine(text, at);
    if (!('line' in next)) return next;
    at = next.end;
    if (next.line === '') break;
    const [, name, value = ''] = FIELD_LINE.exec(next.line) ?? [];
    if (name === undefined) return { refusal: 'field line' };
    fields.push([name.toLowerCase(), value]);
  }
  const all = (wanted: string) => fields.filter(([name]) => name === wanted).map(([, value]) => value);
  const lengths = all('content-length');
  const codings = all('transfer-encoding');
  if (minor === '1' && all('host').length !== 1) return { refusal: 'host' };
  if (lengths.length > 1 || (lengths[0] !== undefined && !/^\d{1,15}$/.test(lengths[0]))) return { refusal: 'length' };
  if (codings.length > 0 && (codings.length > 1 || lengths.length > 0 || minor === '0' || !/^chunked$/i.test(codings[0] ?? '')))
    return { refusal: 'coding' };
  return { request: { method, target }, isChunked: codings.length > 0, length: Number(lengths[0] ?? 0), end: at };
}

/** A line that ends in CRLF and contains no other CR or LF. */
function readLine(text: string, from: number): { readonly line: string; readonly end: number } | Stops | Refused {
  const feed = text.indexOf('\n', from);
  const line = text.slice(from, feed === -1 ? text.length : feed);
  const carriage = line.indexOf('\r');
  if (carriage !== -1 && carriage !== line.length - 1) return { refusal: 'bare CR' };
  if (feed === -1) return STOPS;
  if (carriage === -1) return { refusal: 'bare LF' };
  return { line: line.slice(0, -1), end: feed + 1 };
}

function readLength(text: string, from: number, length: number): { readonly end: number } | Stops {
  return from + length <= text.length ? { end: from + length } : STOPS;
}

function readChunked(text: string, from: number): { readonly end: number } | Stops | Refused {
  let at = from;
  for (;;) {
    const size = readLine(text, at);
    if (!('line' in size)) return size;
    const [, digits] = CHUNK_SIZE.exec(size.line) ?? [];
    if (digits === undefined) return { refusal: 'chunk size' };
    const length = Number.parseInt(digits, 16);
    at = size.end;
    if (length === 0) return readTrailers(text, at);
    if (at + length + 2 > text.length) {
      const rest = text.slice(at + length);
      return rest === '' || rest === '\r' ? STOPS : at + length > text.length ? STOPS : { refusal: 'chunk end' };
    }
    if (!text.startsWith('\r\n', at + length)) return { refusal: 'chunk end' };
    at += length + 2;
  }
}

function readTrailers(text: string, from: number): { readonly end: number } | Stops | Refused {
  for (let at = from; ;) {
    const next = readLine(text, at);
    if (!('line' in next)) return next;
    at = next.end;
    if (next.line === '') return { end: at };
    if (!FIELD_LINE.test(next.line)) return { refusal: 'trailer' };
  }
}
