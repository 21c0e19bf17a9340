import { isUtf8 } from 'node:buffer';
import type { CapturePolicy } from './capture-policy.ts';
import type { OpenBody } from './open-body.ts';
import { dropIncompleteTail } from '@vitrine/privacy/bodies/body-framing';
import type { Redaction } from '@vitrine/privacy/redaction';

export interface StoredBody {
  /** Undefined when it was dropped, because it could not be read and so not redacted, or its time was over. */
  readonly text: string | undefined;
  readonly truncated: boolean;
  readonly encoding: 'base64' | undefined;
  readonly isLate?: boolean;
}

/** The bodies of an exchange that took too long. */
export const LATE_BODY: StoredBody = { text: undefined, truncated: false, encoding: undefined, isLate: true };

/** The body as it is stored: decoded, cut at `bodyMaxSize` bytes, secrets hidden; base64 when it is no UTF-8 text. A body whose
 *  content coding cannot be read is stored as it came when bodies are not redacted, and otherwise only when it is text. `isLate`: whether
 *  the exchange has used up its time; called before each step and after the last. Spec: G4.20 to G4.22. */
export function storedBody(
  body: OpenBody,
  policy: Pick<CapturePolicy, 'bodyMaxSize'>,
  redaction: Redaction,
  isLate: () => boolean = () => false,
): StoredBody | undefined {
  if (body.captured.bytes === 0) return undefined;
  if (isLate()) return LATE_BODY;
  const decoded = body.decoded();
  if (isLate()) return LATE_BODY;
  const readable = decoded ?? body.raw();
  const truncated = !body.whole || readable.length > policy.bodyMaxSize || (decoded !== undefined && body.endsEarly);
  const kept = truncated ? withoutHalfCharacter(readable.subarray(0, policy.bodyMaxSize)) : readable;
  const isText = isUtf8(kept);
  if (redaction.body === undefined)
    return { text: kept.toString(isText ? 'utf8' : 'base64'), truncated, encoding: isText ? undefined : 'base64' };
  if (decoded === undefined && !isText) return { text: undefined, truncated, encoding: undefined };
  // The search terms are ASCII, and latin-1 keeps every other byte in its place.
  const whole = kept.toString(isText ? 'utf8' : 'latin1');
  const plain = truncated || mayBreakOff(body, whole, decoded !== undefined) ? dropIncompleteTail(whole) : whole;
  const isShort = truncated || plain.length < whole.length;
  // A stream cut between two events may also end in half a secret, in its joined texts.
  const text = redaction.body(plain, body.captured.kind, isShort || body.captured.ending === 'cut');
  if (isLate()) return LATE_BODY;
  if (isText) return { text, truncated: isShort, encoding: undefined };
  return { text: Buffer.from(text, 'latin1').toString('base64'), truncated: isShort, encoding: 'base64' };
}

/** Whether a body that was not cut here may end in the middle of a word, and so in half a secret. A body whose end was seen does not, whatever its
 *  content: plain text declared as JSON keeps its last word. */
function mayBreakOff({ captured: { ending, kind } }: OpenBody, text: string, isDecoded: boolean): boolean {
  if (ending === 'whole') return false;
  const looksEnded = /[}\]"\s]/.test(text.at(-1) ?? '"');
  if (ending === 'cut') return !looksEnded;
  // The end of the connection does not prove completeness. JSON and events prove it by their last character, but encoded bytes do not.
  return kind !== undefined && !looksEnded && (ending === 'open' || isDecoded);
}

/** Drops the bytes of a UTF-8 character split by the cut. */
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
