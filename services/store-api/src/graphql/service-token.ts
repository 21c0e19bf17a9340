import type { Secret } from '@vitrine/config/secret';
import { createHash, timingSafeEqual } from 'node:crypto';

const BEARER = /^Bearer +(\S+)$/i;

/** Returns whether the values of an `Authorization` header are the service token, in a time that says nothing of it. Without a token nobody is
 *  let in. */
export function serviceTokenCheck(token: Secret | undefined): (authorization: readonly string[]) => boolean {
  const expected = token === undefined ? undefined : digestOf(token.reveal());
  return (authorization) => {
    const [, sent = ''] = (authorization.length === 1 && BEARER.exec(authorization[0] ?? '')) || [];
    return expected !== undefined && timingSafeEqual(digestOf(sent), expected);
  };
}

/** Of one length, whatever was sent. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
