import type { IncomingHttpHeaders } from 'node:http';

/** The credential that the provider bills: Authorization's bearer token, else `x-api-key`, else Azure's `api-key`, else ''. No gateway key comes
 *  in one of these (`auth/auth-config.ts`). Spec: G4.13. */
export function providerCredential(headers: IncomingHttpHeaders): string {
  const bearer = /^bearer[ \t]+(.+)/i.exec(headers.authorization ?? '')?.[1];
  if (bearer !== undefined) return bearer.trim();
  return trimmed(headers['x-api-key']) || trimmed(headers['api-key']);
}

function trimmed(key: string | string[] | undefined): string {
  return typeof key === 'string' ? key.trim() : '';
}
