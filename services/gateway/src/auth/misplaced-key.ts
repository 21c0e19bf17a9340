import { TOKEN_MAX_LENGTH } from '@vitrine/credentials/token';
import type { Rejection } from '@vitrine/http-api/rejection';
import type { IncomingMessage } from 'node:http';

/** Whether a value sent on a connection is a gateway key. Costs one hash per connection and value. */
export type IsGatewayKey = (value: string, connection: object) => boolean;

/** A gateway key where the provider's credential belongs. Spec: G11.22. */
export const KEY_IN_CREDENTIAL: Rejection = { status: 401, error: 'gateway key in provider credential', reason: 'unauthorized' };

/** The prefix of generated tokens. */
const TOKEN_PREFIX = 'sgk_';
const TOKEN_MIN_LENGTH = 24;
const QUOTED = /^["'](.+)["']$/;
const CREDENTIAL_HEADERS = new Set(['authorization', 'x-api-key', 'api-key', 'x-goog-api-key']);

/** `verify` finds the key of a token. Without it only generated tokens are recognised. */
export function gatewayKeyTest(verify: ((token: string, connection: object) => object | undefined) | undefined): IsGatewayKey {
  return (value, connection) => {
    if (value.startsWith(TOKEN_PREFIX)) return true;
    const canBeToken = value.length >= TOKEN_MIN_LENGTH && value.length <= TOKEN_MAX_LENGTH;
    return canBeToken && verify?.(value, connection) !== undefined;
  };
}

/** Whether a gateway key is in a header from which a provider reads its credential, or in the query. */
export function hasMisplacedKey(isGatewayKey: IsGatewayKey, request: IncomingMessage): boolean {
  return credentialsIn(request).some((value) => isGatewayKey(value, request.socket));
}

/** Everything in them that may be a token. All lines of a repeated header are forwarded, so all of them are read. */
function credentialsIn({ rawHeaders, url = '' }: IncomingMessage): string[] {
  const query = url.indexOf('?');
  const found = query < 0 ? [] : [...new URLSearchParams(url.slice(query + 1))].flat();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (!CREDENTIAL_HEADERS.has((rawHeaders[at] ?? '').toLowerCase())) continue;
    const words = (rawHeaders[at + 1] ?? '').split(/[ \t,]+/);
    const [scheme = '', value = ''] = words;
    const basic = scheme.toLowerCase() === 'basic' ? Buffer.from(value, 'base64').toString('latin1').split(':') : [];
    found.push(...words, ...words.flatMap((word) => QUOTED.exec(word)?.slice(1) ?? []), ...basic);
  }
  return found;
}
