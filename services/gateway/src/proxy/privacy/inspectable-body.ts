import type { BodyKind } from '@vitrine/privacy/redaction';
import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';

/** Why a body cannot be inspected, for the caller. */
export interface Uninspectable {
  readonly status: 400 | 413 | 415;
  readonly because: string;
}

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json$/;
const TEXT_TYPE = /^(?:text\/[\w.+-]+|application\/(?:x-www-form-urlencoded|(?:x-)?(?:ndjson|jsonl|json-?lines|json-seq)))$/;
const CHARSETS: readonly (string | undefined)[] = [undefined, 'utf-8', 'utf8', 'us-ascii'];

/** Why a request's body cannot be inspected, judged by its headers; undefined when it can. A body that cannot be inspected must not be forwarded
 *  when data has to be kept from a provider. */
export function uninspectableReason(headers: IncomingHttpHeaders, maxBytes: number): Uninspectable | undefined {
  const coding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (coding !== 'identity' && coding !== '') return { status: 415, because: 'its content coding is not identity' };
  const [type = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';');
  const isKnown = type.trim() === '' || JSON_TYPE.test(type.trim()) || TEXT_TYPE.test(type.trim());
  if (!isKnown) return { status: 415, because: 'its content type is not JSON, text or a form' };
  const charsets = parameters.map((one) => /^\s*charset\s*=\s*"?([^"\s]*)/.exec(one)?.[1]);
  if (!charsets.every((one) => CHARSETS.includes(one))) return { status: 415, because: 'its character set is not UTF-8' };
  if (Number(headers['content-length'] ?? 0) > maxBytes) return tooLarge(maxBytes);
  return undefined;
}

export function tooLarge(maxBytes: number): Uninspectable {
  return { status: 413, because: `it is larger than ${maxBytes} bytes (tracing.body_max_size)` };
}

/** A body's text and its format, or why it cannot be read. A body declared as JSON must be valid JSON, because a provider that parses broken JSON
 *  differently might find data that was missed here. */
export function inspectableText(body: Buffer, contentType: string | undefined): { text: string; kind: BodyKind } | Uninspectable {
  // JSON in UTF-16 is valid UTF-8 with zeros.
  if (!isUtf8(body) || body.includes(0)) return { status: 415, because: 'it is not UTF-8 text' };
  const text = body.toString('utf8');
  const isJson = JSON_TYPE.test(contentType?.split(';')[0]?.trim().toLowerCase() ?? '');
  if (isJson && !canBeParsed(text)) return { status: 400, because: 'it is not JSON' };
  return { text, kind: isJson ? 'json' : undefined };
}

function canBeParsed(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
