import { TOKEN_MAX_LENGTH } from '@vitrine/credentials/token';
import type { Rejection } from '@vitrine/http-api/rejection';
import type { IncomingMessage } from 'node:http';
import { isSameToken } from './authenticate.ts';
import type { KeyRing } from './keys/key-ring.ts';

/** Whether a gateway key is in a header from which a provider reads its credential, or in the query. */
export type HasMisplacedKey = (request: IncomingMessage) => boolean;

/** A gateway key where the provider's credential belongs. Spec: G11.22. */
export const KEY_IN_CREDENTIAL: Rejection = { status: 401, error: 'gateway key in provider credential', reason: 'unauthorized' };

/** The prefix of generated tokens. */
const TOKEN_PREFIX = 'sgk_';
const TOKEN_MIN_LENGTH = 24;
const QUOTED = /^["'](.+)["']$/;
const CREDENTIAL_HEADERS = new Set(['authorization', 'x-api-key', 'api-key', 'x-goog-api-key']);

/** Without `ring` only generated tokens are recognised. A client sends the same credentials with each request, so the last ones of a
 *  connection are tested once until a key is added. Testing each request took 3 % of the CPU of the proxy's thread. A URL of 16 KB has at most 650 words: 1.3 ms. */
export function misplacedKeyTest(ring: Pick<KeyRing, 'verify' | 'additions'> | undefined): HasMisplacedKey {
  const verified = new WeakMap<object, { readonly texts: string; readonly additions: number | undefined }>();
  return (request) => {
    const { query, headers } = credentialTexts(request);
    if (query === '' && headers.length === 0) return false;
    const texts = JSON.stringify([query, headers]);
    const additions = ring?.additions;
    const known = verified.get(request.socket);
    if (known !== undefined && known.additions === additions && isSameToken(known.texts, texts)) return false;
    // A plus is a blank, unless a client sends a token as it is.
    const words = wordsOf([...parametersIn(query), ...parametersIn(query.replaceAll('+', '%2B')), ...headers]);
    if (words.some((word) => word.startsWith(TOKEN_PREFIX))) return true;
    const tokens = words.filter(({ length }) => length >= TOKEN_MIN_LENGTH && length <= TOKEN_MAX_LENGTH);
    if (tokens.some((token) => ring?.verify(token) !== undefined)) return true;
    verified.set(request.socket, { texts, additions });
    return false;
  };
}

/** The query and the headers that may contain a token. All lines of a repeated header are forwarded, so all of them are read. */
function credentialTexts({ rawHeaders, url = '' }: IncomingMessage): { query: string; headers: string[] } {
  const start = url.indexOf('?');
  const isValue = (at: number) => at % 2 === 1 && CREDENTIAL_HEADERS.has((rawHeaders[at - 1] ?? '').toLowerCase());
  return { query: start < 0 ? '' : url.slice(start + 1), headers: rawHeaders.filter((_, at) => isValue(at)) };
}

function parametersIn(query: string): string[] {
  return [...new URLSearchParams(query)].flat();
}

function wordsOf(texts: readonly string[]): string[] {
  return [...new Set(texts.flatMap((text) => text.split(/[\s,]+/).flatMap(tokensIn)))];
}

/** A word, as `token="..."` also without name and quotes, and after `Basic` its user and password. */
function tokensIn(word: string, at: number, words: readonly string[]): string[] {
  const value = word.slice(word.indexOf('=') + 1);
  const basic = words[at - 1]?.toLowerCase() === 'basic' ? Buffer.from(word, 'base64').toString('latin1').split(':') : [];
  return [word, value, ...(QUOTED.exec(word)?.slice(1) ?? []), ...(QUOTED.exec(value)?.slice(1) ?? []), ...basic];
}
