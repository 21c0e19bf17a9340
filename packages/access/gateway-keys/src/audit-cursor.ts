/** base64url of two numbers of 64 bits, of which the first eleven are zero: they are safe integers. */
export const AUDIT_CURSOR: RegExp = /^A[AB][A-Za-z0-9_-]{8}[AEIMQUYcgkosw048]A[A-H][A-Za-z0-9_-]{8}[AQgw]$/;

/** The position of the last event of a page. */
export interface AuditPosition {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly number: number;
}

const NUMBER_BYTES = 8;

/** The opaque cursor of a position. */
export function auditCursorOf({ at, number }: AuditPosition): string {
  const bytes = Buffer.alloc(2 * NUMBER_BYTES);
  bytes.writeBigInt64BE(BigInt(at));
  bytes.writeBigInt64BE(BigInt(number), NUMBER_BYTES);
  return bytes.toString('base64url');
}

/** The position of a cursor; undefined if it was not created by `auditCursorOf`. */
export function readAuditCursor(cursor: string): AuditPosition | undefined {
  if (!AUDIT_CURSOR.test(cursor)) return undefined;
  const bytes = Buffer.from(cursor, 'base64url');
  return { at: Number(bytes.readBigInt64BE()), number: Number(bytes.readBigInt64BE(NUMBER_BYTES)) };
}
