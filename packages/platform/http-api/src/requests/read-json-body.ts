import { issueText } from '@vitrine/config/issue-text';
import { Fault } from '@vitrine/faults/fault';
import type { z } from 'zod';
import { BodyChunks } from './body-chunks.ts';

/** A JSON body of at most `maxBytes`; an empty one means `{}`. The texts are the errors of 413 and 400. */
export interface JsonBody<Body> {
  readonly shape: z.ZodType<Body>;
  readonly maxBytes: number;
  readonly tooLarge: string;
  readonly invalid: string;
}

/** Reads and parses a JSON body. The error is `invalid` if the body is not a JSON object or has an unknown field. For a wrong value it names the
 *  field and the rule. Faults: `body_too_large`, `invalid_body`. */
export async function readJsonBody<Body>(
  request: AsyncIterable<Buffer>,
  { shape, maxBytes, tooLarge, invalid }: JsonBody<Body>,
): Promise<Body> {
  // A slightly too large body is read to its end, because otherwise the connection would break before the client reads the response.
  const bytes = await readBodyBytes(request, { maxBytes, tooLarge, readMaxBytes: 4 * maxBytes });
  const text = bytes.toString();
  const parsed = shape.safeParse(text.trim() === '' ? {} : readJson(() => text, invalid), { error: issueText });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const isShape = issue === undefined || issue.code === 'unrecognized_keys' || issue.path.length === 0;
  throw new Fault('invalid_body', { say: isShape ? invalid : `${issue.path.join('.')}: ${issue.message}` });
}

/** The bytes of a body. A larger one is read up to `readMaxBytes`. Faults: `body_too_large` with the text `tooLarge`. */
export async function readBodyBytes(
  body: AsyncIterable<Buffer>,
  { maxBytes, tooLarge, readMaxBytes }: { readonly maxBytes: number; readonly tooLarge: string; readonly readMaxBytes: number },
): Promise<Buffer> {
  const chunks = new BodyChunks();
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes <= maxBytes) chunks.push(chunk);
    else if (bytes > readMaxBytes) break;
  }
  if (bytes > maxBytes) throw new Fault('body_too_large', { say: tooLarge });
  return chunks.joined();
}

/** Parses the JSON text that `read` returns; `read` may throw while decoding. Faults: `invalid_body` with the text `invalid`. */
export function readJson(read: () => string, invalid: string): unknown {
  try {
    return JSON.parse(read()) as unknown;
  } catch (cause) {
    throw new Fault('invalid_body', { say: invalid, cause });
  }
}
