import { issueText } from '@vitrine/config/issue-text';
import { Fault } from '@vitrine/faults/fault';
import type { Readable } from 'node:stream';
import type { z } from 'zod';

/** A JSON body of at most `maxBytes`; an empty one means `{}`. The texts are the errors of 413 and 400. */
export interface JsonBody<Body> {
  readonly shape: z.ZodType<Body>;
  readonly maxBytes: number;
  readonly tooLarge: string;
  readonly invalid: string;
}

/** Reads and parses a JSON body. The error is `invalid` for what is no JSON object or has an unknown field; for a wrong value it names the field
 *  and what is expected there. Faults: `body_too_large`, `invalid_body`. */
export async function readJsonBody<Body>(
  request: Readable,
  { shape, maxBytes, tooLarge, invalid }: JsonBody<Body>,
): Promise<Body> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // A body somewhat too large is read to its end, or the connection breaks before the client reads the response.
    if (bytes <= maxBytes) chunks.push(chunk);
    else if (bytes > 4 * maxBytes) break;
  }
  if (bytes > maxBytes) throw new Fault('body_too_large', { say: tooLarge });
  const parsed = shape.safeParse(parse(Buffer.concat(chunks).toString(), invalid), { error: issueText });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const isShape = issue === undefined || issue.code === 'unrecognized_keys' || issue.path.length === 0;
  throw new Fault('invalid_body', { say: isShape ? invalid : `${issue.path.join('.')}: ${issue.message}` });
}

function parse(text: string, invalid: string): unknown {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new Fault('invalid_body', { say: invalid, cause });
  }
}
