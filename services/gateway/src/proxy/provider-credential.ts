import type { IncomingHttpHeaders } from 'node:http';

/** The secret that pays the provider: Authorization's bearer token, else X-API-Key, else ''. */
export function providerCredential(headers: IncomingHttpHeaders): string {
  const authorization = headers.authorization ?? '';
  if (/^bearer /i.test(authorization)) return authorization.slice('bearer '.length).trim();
  const key = headers['x-api-key'];
  return typeof key === 'string' ? key.trim() : '';
}
