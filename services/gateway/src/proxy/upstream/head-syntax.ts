import { malformed } from './upstream-error.ts';

// One match over the whole head is faster than a check of each name. Control characters are excluded, because other parsers may count a
// bare line feed or carriage return as a line end.
const HEAD =
  /^HTTP\/1\.[01] [1-9]\d\d(?: [\t\x20-\x7e\x80-\xff]*)?(?:\r\n[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*)*$/;
const STATUS_LINE = /^HTTP\/1\.[01] [1-9]\d\d(?: [\t\x20-\x7e\x80-\xff]*)?$/;
const HEADER_LINE = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*$/;
/** A valid prefix of these lines. */
const STATUS_LINE_START =
  /^(?:H|HT|HTT|HTTP|HTTP\/|HTTP\/1|HTTP\/1\.|HTTP\/1\.[01](?: (?:[1-9]\d?)?)?|HTTP\/1\.[01] [1-9]\d\d(?: [\t\x20-\x7e\x80-\xff]*)?\r?)$/;
const HEADER_LINE_START = /^(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]*|[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*\r?|\r)$/;
const VERSION = Buffer.from('HTTP/1.');

/** The lines of a response's head, without the empty one. Throws `malformed_response`. Source: RFC 9112, sections 4 and 5. */
export function checkHead(text: string): void {
  if (!HEAD.test(text)) throw malformed(flawOf(text));
}

/** The connection has ended within the head. Throws `malformed_response` if the received part cannot begin a valid one. */
export function checkCutHead(text: string): void {
  const end = text.lastIndexOf('\r\n');
  if (end === -1) {
    if (!STATUS_LINE_START.test(text)) throw malformed(flawOf(text));
    return;
  }
  checkHead(text.slice(0, end));
  if (!HEADER_LINE_START.test(text.slice(end + 2))) throw malformed('invalid header line');
}

/** A trailer, without its line end. Throws `malformed_response`. */
export function checkTrailer(line: string): void {
  if (!HEADER_LINE.test(line)) throw malformed('invalid trailer');
}

/** The connection has ended within the trailers, of which `line` is the last. Throws `malformed_response` if it cannot begin a valid one. */
export function checkCutTrailer(line: string): void {
  if (!HEADER_LINE_START.test(line)) throw malformed('invalid trailer');
}

/** Throws `malformed_response` if no response begins like this, so that another protocol is recognised before the timeout. */
export function checkStart(bytes: Buffer): void {
  const length = Math.min(bytes.length, VERSION.length);
  if (bytes.compare(VERSION, 0, length, 0, length) !== 0) throw malformed(flawOf(bytes.toString('latin1', 0, 16)));
}

/** Describes the fault of a head without quoting it, because it may be part of a body when responses are out of step. */
function flawOf(text: string): string {
  const bad = text.split('\r\n').findIndex((line, at) => !(at === 0 ? STATUS_LINE : HEADER_LINE).test(line));
  if (bad > 0) return `invalid header line ${bad}`;
  const protocol = protocolOf(text);
  return protocol === undefined ? 'invalid status line' : `invalid status line: the provider uses ${protocol}`;
}

/** The protocol behind a wrong scheme or port, recognised by the first bytes of a TLS record or of an HTTP/2 settings frame. */
function protocolOf(text: string): string | undefined {
  const [first, second, , fourth] = Array.from({ length: 4 }, (_, at) => text.charCodeAt(at));
  if (first !== undefined && first >= 0x14 && first <= 0x17 && second === 0x03) return 'TLS';
  if (text.startsWith('HTTP/2') || (first === 0 && fourth === 0x04)) return 'HTTP/2';
  return text.startsWith('SSH-') ? 'SSH' : undefined;
}
