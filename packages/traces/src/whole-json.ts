import { modelOf } from './body-tap.ts';
import { readUsage, type Usage } from './usage.ts';

// Short cuts for bodies that are held whole, which almost all are. Both give the answer of the taps in body-tap.ts or none, and
// then the taps are asked: 0.2 µs against 1.2 for a request of 1 KB, 2 µs against 4.5 for an answer of 2 KB.

const USAGE = Buffer.from('"usage"');
const MODEL_FIRST = Buffer.from('{"model":"');
const MODEL_MAX_BYTES = 256;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** The model of a request whose first key it is, as the official SDKs send it. */
export function firstModel(body: Buffer): string | undefined {
  if (body.length < MODEL_FIRST.length || body.compare(MODEL_FIRST, 0, MODEL_FIRST.length, 0, MODEL_FIRST.length) !== 0)
    return undefined;
  const end = body.indexOf(QUOTE, MODEL_FIRST.length);
  if (end < 0 || end - MODEL_FIRST.length > MODEL_MAX_BYTES) return undefined;
  const model = body.toString('utf8', MODEL_FIRST.length, end);
  return model.includes('\\') ? undefined : modelOf(model);
}

/** The usage of a complete JSON object, when its last `usage` member stands in the root. It does when what follows it closes
 *  exactly one brace, and that is the last byte: no string of JSON can hold the bytes `,"usage":`. */
export function lastRootUsage(body: Buffer): Usage | undefined {
  const last = lastByteThatCounts(body);
  if (body[last] !== CLOSE_BRACE) return undefined;
  const at = body.lastIndexOf(USAGE);
  if (at < 1) return undefined;
  const before = body[at - 1];
  if ((before !== COMMA && before !== OPEN_BRACE) || body[at + USAGE.length] !== COLON) return undefined;
  const start = at + USAGE.length + 1;
  if (body[start] !== OPEN_BRACE) return undefined;
  const end = closingOf(body, start + 1, last);
  if (end < 0 || closingOf(body, end + 1, last) !== last) return undefined;
  try {
    return readUsage(JSON.parse(body.toString('utf8', start, end + 1)));
  } catch {
    return undefined;
  }
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
  while (at >= 0 && (body[at] ?? 0) <= 0x20) at -= 1;
  return at;
}
