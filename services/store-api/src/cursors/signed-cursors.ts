import type { Pepper } from '@vitrine/credentials/pepper';
import { createHmac, timingSafeEqual } from 'node:crypto';

/** Spec: S6.24. */
const VALID_MS = 86_400_000;
const MAC_BYTES = 16;
const MAX_CHARACTERS = 1_024;
const FORM = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{22})$/;

export type SignedCursors = ReturnType<typeof signedCursors>;

/** Cursors of one list, which clients send back as they got them: they name a position in the list and the filter of their page, and end after
 *  24 hours. Signed, so that no client makes its own. `list`: its name; cursors of other lists are not accepted. The first pepper signs, all are
 *  accepted. */
export function signedCursors(peppers: readonly Pepper[], list: string, nowMs: () => number) {
  const macsOf = (payload: string, filter: string) => {
    const text = JSON.stringify(['cursor', list, filter, payload]);
    return peppers.map(({ secret }) => createHmac('sha256', secret.reveal()).update(text).digest().subarray(0, MAC_BYTES));
  };
  return {
    seal: (position: string, filter: string): string => {
      const payload = Buffer.from(JSON.stringify([nowMs() + VALID_MS, position])).toString('base64url');
      return `${payload}.${macsOf(payload, filter)[0]?.toString('base64url') ?? ''}`;
    },
    /** The position; undefined for a cursor that was changed, has expired, or is of another list or filter. */
    open: (cursor: string, filter: string): string | undefined => {
      const [, payload = '', mac = ''] = (cursor.length <= MAX_CHARACTERS && FORM.exec(cursor)) || [];
      const sent = Buffer.from(mac, 'base64url');
      const isOurs = macsOf(payload, filter).some((expected) => sent.length === MAC_BYTES && timingSafeEqual(sent, expected));
      if (payload === '' || !isOurs) return undefined;
      const [expiresAt, position] = JSON.parse(Buffer.from(payload, 'base64url').toString()) as [number, string];
      return expiresAt > nowMs() ? position : undefined;
    },
  };
}
