/** So much of a request's first bytes is looked at, */
const LOOKED_AT_BYTES = 4_096;
/** and so much of its target is kept, when it is longer. */
const TARGET_MAX_LENGTH = 2_048;

const WHOLE = /^(?:\r\n)*([A-Z-]{1,20}) ([!-~]+) HTTP\/1\.[01]\r\n/;
const LONG = /^(?:\r\n)*([A-Z-]{1,20}) ([!-~]+)$/;

/** What a request that could not be parsed asked for. */
export interface RequestLine {
  readonly method: string;
  /** As it came, cut at 2,048 characters. */
  readonly target: string;
}

/** The request line at the beginning of what came of a request; undefined when there is none, such as in the middle of a head. A line that is
 *  longer than what is looked at counts, because it may be what the request was refused for. */
export function readRequestLine(bytes: Uint8Array | undefined): RequestLine | undefined {
  if (bytes === undefined) return undefined;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, LOOKED_AT_BYTES)).toString('latin1');
  const [, method, target] = WHOLE.exec(text) ?? (text.length === LOOKED_AT_BYTES ? LONG.exec(text) : undefined) ?? [];
  return method === undefined || target === undefined ? undefined : { method, target: target.slice(0, TARGET_MAX_LENGTH) };
}
