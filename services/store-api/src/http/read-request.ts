import { issueText } from '@vitrine/config/issue-text';
import { Fault } from '@vitrine/faults/fault';
import type { IncomingMessage } from 'node:http';
import { parse } from 'node:querystring';
import type { z } from 'zod';
import { MAX_IDEMPOTENCY_KEY, MIN_IDEMPOTENCY_KEY } from '../contract/headers.ts';

/** Spec: Limits, request body size. */
const MAX_BODY_BYTES = 262_144;
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Faults: `invalid_query`, which names the parameter. */
export function readQuery(shape: z.ZodType, search: string): unknown {
  const values = parse(search, '&', '=', { maxKeys: 0 });
  const parsed = shape.safeParse(values, { error: issueText });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Fault('invalid_query', { say: `${issue?.path.join('.')} ${issue?.message}` });
}

/** Reads a body of at most 256 KB as JSON. Faults: `invalid_body`, which names the field; `body_too_large`. */
export async function readBody(shape: z.ZodType, request: IncomingMessage): Promise<unknown> {
  const parsed = shape.safeParse(parseJson(await readBytes(request)), { error: issueText });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalidBody(`${fieldOf(issue?.path ?? [])} ${issue?.message}`);
}

/** Faults: `invalid_body`. */
export function readIdempotencyKey(request: IncomingMessage): string | undefined {
  const [key, ...others] = request.headersDistinct['idempotency-key'] ?? [];
  if (key === undefined) return undefined;
  if (others.length > 0) throw invalidBody('Idempotency-Key must be given once');
  if (key.length >= MIN_IDEMPOTENCY_KEY && key.length <= MAX_IDEMPOTENCY_KEY) return key;
  throw invalidBody(`Idempotency-Key must have ${MIN_IDEMPOTENCY_KEY} to ${MAX_IDEMPOTENCY_KEY} characters`);
}

async function readBytes(request: IncomingMessage): Promise<Uint8Array> {
  const { 'content-type': type, 'content-encoding': encoding, 'content-length': length } = request.headers;
  if (type !== undefined && !JSON_TYPE.test(type.trim())) throw invalidBody('Content-Type must be application/json in UTF-8');
  // A body that is small on the wire could be of any size.
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') throw invalidBody('Content-Encoding must be identity');
  if (Number(length ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  return chunks.length === 1 ? (chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(chunks);
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(UTF8.decode(bytes)) as unknown;
  } catch (cause) {
    throw new Fault('invalid_body', { say: 'The body must be JSON in UTF-8', cause });
  }
}

/** Such as `domains[3]`. */
function fieldOf(path: readonly PropertyKey[]): string {
  if (path.length === 0) return 'The body';
  return path.map((part, i) => (typeof part === 'number' ? `[${part}]` : `${i > 0 ? '.' : ''}${String(part)}`)).join('');
}

function invalidBody(say: string): Fault {
  return new Fault('invalid_body', { say });
}

function tooLarge(): Fault {
  return new Fault('body_too_large', { say: `The body must have at most ${MAX_BODY_BYTES} bytes` });
}
