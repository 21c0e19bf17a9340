import { TOKEN_MAX_LENGTH } from '@vitrine/credentials/token';
import type { Rejection } from '@vitrine/http-api/rejection';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

/** Whether a value sent on a connection is a gateway key. Costs one hash per connection and value. */
export type IsGatewayKey = (value: string, connection: object) => boolean;

/** A gateway key where the provider's credential belongs. Spec: G11.22. */
export const KEY_IN_CREDENTIAL: Rejection = { status: 401, error: 'gateway key in provider credential', reason: 'unauthorized' };

/** The prefix of generated tokens. */
const TOKEN_PREFIX = 'sgk_';
const TOKEN_MIN_LENGTH = 24;
const CREDENTIAL_PARAMETERS = ['key', 'api_key', 'api-key', 'access_token', 'token'];

/** `verify` finds the key of a token. Without it only generated tokens are recognised. */
export function gatewayKeyTest(verify: ((token: string, connection: object) => object | undefined) | undefined): IsGatewayKey {
  return (value, connection) => {
    if (value.startsWith(TOKEN_PREFIX)) return true;
    const canBeToken = value.length >= TOKEN_MIN_LENGTH && value.length <= TOKEN_MAX_LENGTH;
    return canBeToken && verify?.(value, connection) !== undefined;
  };
}

/** Whether a gateway key is in a header or parameter from which a provider reads its credential. */
export function hasMisplacedKey(isGatewayKey: IsGatewayKey, { headers, url = '', socket }: IncomingMessage): boolean {
  return credentialsIn(headers, url).some((value) => isGatewayKey(value, socket));
}

function credentialsIn(headers: IncomingHttpHeaders, url: string): string[] {
  const { authorization = '' } = headers;
  const [scheme = '', value = ''] = authorization.trim().split(/[ \t]+/, 2);
  const basic = scheme.toLowerCase() === 'basic' ? Buffer.from(value, 'base64').toString('latin1').split(':') : [];
  const named = [headers['x-api-key'], headers['api-key'], headers['x-goog-api-key']].flatMap((one) => one ?? []);
  const query = url.indexOf('?');
  const parameters = query < 0 ? undefined : new URLSearchParams(url.slice(query + 1));
  const inQuery = CREDENTIAL_PARAMETERS.flatMap((name) => parameters?.getAll(name) ?? []);
  return [scheme, value, ...basic, ...named.map((one) => one.trim()), ...inQuery];
}
