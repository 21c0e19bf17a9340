import { FetchError } from './fetch-error.ts';

const MAX_URL_LENGTH = 2_048;
const PORTS = new Set(['', '80', '443']);

/** A URL that may be requested: http or https, ports 80 and 443 only, without userinfo and fragment. Throws FetchError with this reason. */
export function checkUrl(text: string, base: URL | undefined, reason: 'refused_redirect' | 'internal'): URL {
  const shown = text.slice(0, 200);
  if (text.length > MAX_URL_LENGTH) throw new FetchError(reason, `the address ${shown}... is longer than ${MAX_URL_LENGTH}`);
  const url = URL.parse(text, base?.href);
  if (url === null) throw new FetchError(reason, `${shown} is not a URL`);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new FetchError(reason, `${shown} is neither http nor https`);
  if (!PORTS.has(url.port)) throw new FetchError(reason, `${shown} has a port other than 80 and 443`);
  url.username = '';
  url.password = '';
  url.hash = '';
  return url;
}

/** Where a redirect leads. Throws FetchError `refused_redirect`, also for a redirect from https to http. */
export function checkRedirect(location: string, from: URL): URL {
  const url = checkUrl(location, from, 'refused_redirect');
  if (from.protocol === 'https:' && url.protocol === 'http:')
    throw new FetchError('refused_redirect', `${from.host} redirects from https to http`);
  return url;
}
