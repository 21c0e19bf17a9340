/** The responses in the bytes of a server. */
export interface StrictResponses {
  /** Statuses of the final responses that came to their end. */
  readonly statuses: readonly number[];
  readonly bodies: readonly string[];
  /** Whether the bytes stop within a response. */
  readonly isCut: boolean;
  /** Why the bytes are not responses. */
  readonly fault: string | undefined;
}

const STATUS_LINE = /^HTTP\/1\.1 ([1-9]\d\d) [\t \x20-\x7e\x80-\xff]*$/;
const FIELD_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+): ?([\t \x20-\x7e\x80-\xff]*)$/;

/** Reads what a gateway has written on a connection, to requests other than HEAD, narrowly: one well-formed response after the other. */
export function readResponsesStrictly(text: string, isClosed: boolean): StrictResponses {
  const statuses: number[] = [];
  const bodies: string[] = [];
  const ended = (isCut: boolean, fault?: string): StrictResponses => ({ statuses, bodies, isCut, fault });
  for (let at = 0; at < text.length;) {
    const headEnd = text.indexOf('\r\n\r\n', at);
    if (headEnd === -1)
      return isHeadBegun(text.slice(at)) ? ended(true) : ended(true, `no status line: ${text.slice(at, at + 60)}`);
    const [first = '', ...lines] = text.slice(at, headEnd).split('\r\n');
    const status = Number(STATUS_LINE.exec(first)?.[1] ?? Number.NaN);
    if (Number.isNaN(status)) return ended(false, `no status line: ${first.slice(0, 60)}`);
    const wrong = lines.find((line) => !FIELD_LINE.test(line));
    if (wrong !== undefined) return ended(false, `no field line: ${wrong.slice(0, 60)}`);
    const all = (name: string) =>
      lines.filter((line) => line.toLowerCase().startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).trim());
    const lengths = all('content-length');
    const codings = all('transfer-encoding');
    if (lengths.length + codings.length > 1) return ended(false, `framed twice: ${[...lengths, ...codings].join()}`);
    at = headEnd + 4;
    if (status < 200) continue;
    const body = readBody(text, at, status, lengths[0], codings[0], isClosed);
    if (typeof body === 'string') return ended(false, body);
    if (body === undefined) return ended(true);
    statuses.push(status);
    bodies.push(body.text);
    at = body.end;
  }
  return ended(false);
}

/** Whether a text may be the beginning of a head. */
function isHeadBegun(text: string): boolean {
  const [first = ''] = text.split('\r\n', 1);
  return first.length < 'HTTP/1.1 200 '.length || STATUS_LINE.test(first);
}

/** A body and its end; undefined for one that is not complete; a string is an error message. */
function readBody(
  text: string,
  from: number,
  status: number,
  length: string | undefined,
  coding: string | undefined,
  isClosed: boolean,
): { readonly text: string; readonly end: number } | string | undefined {
  if (status === 204 || status === 304) return { text: '', end: from };
  if (coding !== undefined) return coding === 'chunked' ? readChunks(text, from) : `coding ${coding}`;
  if (length === undefined) return isClosed ? { text: text.slice(from), end: text.length } : undefined;
  if (!/^\d+$/.test(length)) return `length ${length}`;
  const end = from + Number(length);
  return end <= text.length ? { text: text.slice(from, end), end } : undefined;
}

function readChunks(text: string, from: number): { readonly text: string; readonly end: number } | string | undefined {
  let body = '';
  for (let at = from; ;) {
    const lineEnd = text.indexOf('\r\n', at);
    if (lineEnd === -1) return /^[0-9a-f]*\r?$/i.test(text.slice(at)) ? undefined : `chunk size ${text.slice(at, at + 20)}`;
    const digits = text.slice(at, lineEnd);
    if (!/^[0-9a-f]+$/i.test(digits)) return `chunk size ${digits.slice(0, 20)}`;
    const size = Number.parseInt(digits, 16);
    if (size === 0) return readTrailers(text, lineEnd + 2, body);
    const end = lineEnd + 2 + size;
    if (end + 2 > text.length) return undefined;
    if (!text.startsWith('\r\n', end)) return 'chunk end';
    body += text.slice(lineEnd + 2, end);
    at = end + 2;
  }
}

function readTrailers(
  text: string,
  from: number,
  body: string,
): { readonly text: string; readonly end: number } | string | undefined {
  for (let at = from; ;) {
    const lineEnd = text.indexOf('\r\n', at);
    if (lineEnd === -1) return undefined;
    if (lineEnd === at) return { text: body, end: at + 2 };
    if (!/^[\w!#$%&'*+.^`|~-]+:[^\r\n\0]*$/.test(text.slice(at, lineEnd))) return `trailer ${text.slice(at, at + 20)}`;
    at = lineEnd + 2;
  }
}
