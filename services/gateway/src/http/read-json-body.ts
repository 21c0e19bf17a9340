import { issueText } from '@vitrine/config/issue-text';
import { Fault } from '@vitrine/faults/fault';
import type { Readable } from 'node:stream';
import type { BodyRule } from './admin-route.ts';

/** Reads a JSON body by its rule. What is no JSON object, or has an unknown field, is refused with the rule's text, a wrong value
 *  with its field and what is expected there. Faults: `body_too_large`, `invalid_body`. */
export async function readJsonBody<Body>(request: Readable, rule: BodyRule<Body>): Promise<Body> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // Read to its end all the same, or the connection breaks before the answer is read.
    if (bytes <= rule.maxBytes) chunks.push(chunk);
    else if (bytes > 4 * rule.maxBytes) break;
  }
  if (bytes > rule.maxBytes) throw new Fault('body_too_large', { say: rule.tooLarge });
  const parsed = rule.shape.safeParse(parse(Buffer.concat(chunks).toString(), rule.invalid), { error: issueText });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const isShape = issue === undefined || issue.code === 'unrecognized_keys' || issue.path.length === 0;
  throw new Fault('invalid_body', { say: isShape ? rule.invalid : `${issue.path.join('.')}: ${issue.message}` });
}

function parse(text: string, invalid: string): unknown {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new Fault('invalid_body', { say: invalid, cause });
  }
}
