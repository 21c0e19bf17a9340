/** How many of a request's first bytes are searched for a request line. */
const SEARCHED_BYTES = 4_096;
/** A longer target is cut to this length. */
const TARGET_MAX_LENGTH = 2_048;

const WHOLE = /^(?:\r\n)*([A-Z-]{1,20}) ([!-~]+) HTTP\/1\.[01]\r\n/;
const LONG = /^(?:\r\n)*([A-Z-]{1,20}) ([!-~]+)$/;

/** The request line of a request that could not be parsed. */
export interface RequestLine {
  readonly method: string;
  /** As received, cut at 2,048 characters. */
  readonly target: string;
}

/** Reads the request line at the beginning of a request's bytes; undefined when there is none, such as in the middle of a head. A line longer than
 *  the searched part counts, because its length may be the reason for the rejection. */
export function readRequestLine(bytes: Uint8Array | undefined): RequestLine | undefined {
  if (bytes === undefined) return undefined;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, SEARCHED_BYTES)).toString('latin1');
  const [, method, target] = WHOLE.exec(text) ?? (text.length === SEARCHED_BYTES ? LONG.exec(text) : undefined) ?? [];
  return method === undefined || target === undefined ? undefined : { method, target: target.slice(0, TARGET_MAX_LENGTH) };
}
