import { issuePaths, issueText } from '@vitrine/config/issue-text';
import { Fault } from '@vitrine/faults/fault';
import { readJson, readBodyBytes } from '@vitrine/http-api/requests/read-json-body';
import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import { MAX_IDEMPOTENCY_KEY, MIN_IDEMPOTENCY_KEY } from '../contract/headers.ts';

/** Spec: S3.25, S3.26. */
const MAX_BODY_BYTES = 262_144;
const TOO_LARGE = `The body must have at most ${MAX_BODY_BYTES} bytes`;
/** A stalled body occupies a slot of its key. */
const BODY_TIMEOUT_MS = 5_000;
/** Maximum number of unknown names in an error. */
const NAMED_MAX = 10;
const NAME_MAX_LENGTH = 64;
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Reads a body of at most 256 KB as JSON, which has to arrive within 5 s. Faults: `invalid_body`, which names the field; `body_too_large`;
 *  `body_timeout`. */
export async function readBody(shape: z.ZodType, request: IncomingMessage): Promise<unknown> {
  const bytes = await readInTime(request);
  const parsed = shape.safeParse(
    readJson(() => UTF8.decode(bytes), 'The body must be JSON in UTF-8'),
    { error: issueText },
  );
  if (parsed.success) return parsed.data;
  throw invalidBody(sentenceOf(parsed.error));
}

/** Faults: `invalid_body`. */
export function readIdempotencyKey(request: IncomingMessage): string | undefined {
  const [key, ...others] = request.headersDistinct['idempotency-key'] ?? [];
  if (key === undefined) return undefined;
  if (others.length > 0) throw invalidBody('Idempotency-Key must be given once');
  if (key.length >= MIN_IDEMPOTENCY_KEY && key.length <= MAX_IDEMPOTENCY_KEY) return key;
  throw invalidBody(`Idempotency-Key must have ${MIN_IDEMPOTENCY_KEY} to ${MAX_IDEMPOTENCY_KEY} characters`);
}

async function readInTime(request: IncomingMessage): Promise<Uint8Array> {
  const late = Promise.withResolvers<never>();
  const say = `The body must arrive within ${BODY_TIMEOUT_MS / 1_000} s`;
  const timer = setTimeout(() => late.reject(new Fault('body_timeout', { say })), BODY_TIMEOUT_MS);
  try {
    return await Promise.race([readBytes(request), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

async function readBytes(request: IncomingMessage): Promise<Uint8Array> {
  const { 'content-type': type, 'content-encoding': encoding, 'content-length': length } = request.headers;
  if (type !== undefined && !JSON_TYPE.test(type.trim())) throw invalidBody('Content-Type must be application/json in UTF-8');
  // A compressed body could have any size.
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') throw invalidBody('Content-Encoding must be identity');
  if (Number(length ?? 0) > MAX_BODY_BYTES) throw new Fault('body_too_large', { say: TOO_LARGE });
  const body = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  return readBodyBytes(body, { maxBytes: MAX_BODY_BYTES, tooLarge: TOO_LARGE, readMaxBytes: MAX_BODY_BYTES });
}

/** Describes the fault. Unknown names come first, because they may be misspelt known ones. */
function sentenceOf({ issues }: z.ZodError): string {
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0];
  if (issue === undefined) return 'The body is invalid';
  const names = issuePaths(issue).slice(0, NAMED_MAX).map(fieldOf);
  if (issue.code === 'unrecognized_keys') return `${names.join(', ')}: ${issue.message}`;
  return `${names[0] === '' ? 'The body' : names[0]} ${issue.message}`;
}

/** Such as `domains[3]`; '' for the whole body. */
export function fieldOf(path: readonly PropertyKey[]): string {
  const parts = path.map((part, i) => (typeof part === 'number' ? `[${part}]` : `${i > 0 ? '.' : ''}${String(part)}`));
  return parts.join('').slice(0, NAME_MAX_LENGTH);
}

function invalidBody(say: string): Fault {
  return new Fault('invalid_body', { say });
}
