import { scrub } from '@vitrine/telemetry/scrub';
import { isUtf8 } from 'node:buffer';
import type { CapturePolicy } from './derive-trace.ts';
import type { OpenBody } from './open-body.ts';

export interface StoredBody {
  readonly text: string;
  readonly truncated: boolean;
  readonly encoding: 'base64' | undefined;
  /** Credentials that were replaced in the text. */
  readonly redacted: number;
}

/** The body as it is stored: decoded, cut at `bodyMaxSize` bytes, scrubbed; base64 when it is no UTF-8 text. A body whose
 *  content coding cannot be read is stored as it came. Spec: gateway decisions, section 1, `request_body`. */
export function storedBody(body: OpenBody, policy: CapturePolicy): StoredBody | undefined {
  if (body.bytes === 0) return undefined;
  const readable = body.decoded() ?? body.raw();
  const truncated = !body.whole || readable.length > policy.bodyMaxSize;
  const kept = truncated ? withoutHalfCharacter(readable.subarray(0, policy.bodyMaxSize)) : readable;
  if (!isUtf8(kept)) return { text: kept.toString('base64'), truncated, encoding: 'base64', redacted: 0 };
  const plain = kept.toString('utf8');
  if (policy.redaction === 'off') return { text: plain, truncated, encoding: undefined, redacted: 0 };
  const { text, count } = scrub(plain);
  return { text, truncated, encoding: undefined, redacted: count };
}

/** Drops the bytes of a UTF-8 character that the cut went through. */
function withoutHalfCharacter(bytes: Buffer): Buffer {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return bytes;
    if (byte < 0xc0) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return needed > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}
