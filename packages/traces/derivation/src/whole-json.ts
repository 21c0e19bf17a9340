import { ASCII } from './character-codes.ts';
import { modelOf, type BodyFacts } from './body-facts.ts';
import type { BodyPart } from './captured-exchange.ts';
import { readUsage, type Usage } from './usage.ts';

const { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, COLON, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } = ASCII;

// Where the one value stands that counts, in JSON that is held whole, as almost all is: found without reading the rest, or left to
// `body-facts-reader.ts`, which gives the same. The proxy's thread looks (0.1 and 0.7 µs for 1 and 2 KB) and hands over what it found
// instead of the body: moving whole bodies between two busy cores cost 6 µs an exchange.

const USAGE = Buffer.from('"usage"');
const MODEL = Buffer.from('"model"');
const BACKGROUND = Buffer.from('"background"');
const MODEL_FIRST = Buffer.from('{"model":"');
const MODEL_MAX_BYTES = 256;

/** The model of a complete JSON object, when it is its only member of that name, at whatever depth, and stands in the root. The first
 *  key is looked at first, where the official JavaScript SDKs put it. */
export function findRootModel(body: Buffer): Buffer | undefined {
  return findFirstModel(body) ?? findOnlyModel(body);
}

/** The same, unless the request may be for a response in the background: derivation has to know that too. */
export function findModelOnly(body: Buffer): Buffer | undefined {
  return body.includes(BACKGROUND) ? undefined : findRootModel(body);
}

function findFirstModel(body: Buffer): Buffer | undefined {
  if (body.length < MODEL_FIRST.length || body.compare(MODEL_FIRST, 0, MODEL_FIRST.length, 0, MODEL_FIRST.length) !== 0)
    return undefined;
  return plainTextAt(body, MODEL_FIRST.length);
}

function findOnlyModel(body: Buffer): Buffer | undefined {
  const at = body.indexOf(MODEL);
  if (at < 1 || body.lastIndexOf(MODEL) !== at) return undefined;
  const value = valueOfKey(body, at, MODEL.length);
  if (value === undefined || body[value] !== QUOTE) return undefined;
  const model = plainTextAt(body, value + 1);
  if (model === undefined) return undefined;
  const last = lastByteThatCounts(body);
  return body[last] === CLOSE_BRACE && closingOf(body, value + model.length + 2, last) === last ? model : undefined;
}

/** The text of the `usage` object of a complete JSON object, when the last member of that name stands in the root. It does when
 *  what follows it closes exactly one brace, and that is the last byte. */
export function findLastRootUsage(body: Buffer): Buffer | undefined {
  const last = lastByteThatCounts(body);
  if (body[last] !== CLOSE_BRACE) return undefined;
  const at = body.lastIndexOf(USAGE);
  const start = at < 1 ? undefined : valueOfKey(body, at, USAGE.length);
  if (start === undefined || body[start] !== OPEN_BRACE) return undefined;
  const end = closingOf(body, start + 1, last);
  return end >= 0 && closingOf(body, end + 1, last) === last ? body.subarray(start, end + 1) : undefined;
}

export type FoundPart = Exclude<BodyPart, 'body'>;

/** The bytes of one, or nothing where only a reader can decide. */
export function findPart(part: FoundPart, body: Buffer): Buffer | undefined {
  return part === 'model' ? findModelOnly(body) : findLastRootUsage(body);
}

/** The facts of a found part, by the rules of the readers. */
export function foundFacts(part: FoundPart, found: Buffer): BodyFacts {
  const isModel = part === 'model';
  return {
    model: isModel ? readFoundModel(found) : undefined,
    usage: isModel ? undefined : readFoundUsage(found),
    streamError: false,
    ended: true,
  };
}

export function readFoundModel(found: Buffer): string | undefined {
  return modelOf(found.toString());
}

function readFoundUsage(found: Buffer): Usage | undefined {
  try {
    return readUsage(JSON.parse(found.toString()));
  } catch {
    return undefined;
  }
}

/** Where the value of the key at `at` begins; undefined when it is no key. No string of JSON can hold a whole key of a member: its
 *  quotes would be escaped. */
function valueOfKey(body: Buffer, at: number, length: number): number | undefined {
  let before = at - 1;
  while (isSpace(body[before])) before -= 1;
  if (body[before] !== COMMA && body[before] !== OPEN_BRACE) return undefined;
  const colon = afterSpace(body, at + length);
  return body[colon] === COLON ? afterSpace(body, colon + 1) : undefined;
}

/** What stands between `start` and the next quote, when it is short and nothing in it is escaped. */
function plainTextAt(body: Buffer, start: number): Buffer | undefined {
  const end = body.indexOf(QUOTE, start);
  if (end < 0 || end - start > MODEL_MAX_BYTES) return undefined;
  const text = body.subarray(start, end);
  return text.includes(BACKSLASH) ? undefined : text;
}

/** Where the bracket closes that was open before `from`; -1 when not up to `last`. */
function closingOf(body: Buffer, from: number, last: number): number {
  let depth = 1;
  for (let at = from; at <= last; at += 1) {
    const byte = body[at];
    if (byte === QUOTE) {
      at += 1;
      while (at <= last && body[at] !== QUOTE) at += body[at] === BACKSLASH ? 2 : 1;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return -1;
}

function lastByteThatCounts(body: Buffer): number {
  let at = body.length - 1;
  while (isSpace(body[at])) at -= 1;
  return at;
}

function afterSpace(body: Buffer, from: number): number {
  let at = from;
  while (isSpace(body[at])) at += 1;
  return at;
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
