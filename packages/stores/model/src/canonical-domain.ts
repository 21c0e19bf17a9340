import { registrableDomain } from '@vitrine/registry/registrable-domain';

/** Of an input, a host name and a label (RFC 1035). Spec: S4.5. */
const MAX_LENGTH = 253;
const HTTP = /^https?:/i;
const OTHER_SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;
/** The URL parser would drop tabs and line breaks, and decode %00. */
// oxlint-disable-next-line no-control-regex -- the pattern must match them
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f]|%00/;
/** Underscores are allowed in names below a domain, not in the domain. */
const LABELS = /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/;
const DOMAIN = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/;

/** The registrable domain of a host name or URL, which is the identity of a store, in lower case and A-labels; undefined when it has none on the
 *  public internet. Idempotent, and never throws. Spec: S4.1 to S4.4. */
export function canonicalDomain(input: string): string | undefined {
  const text = input.trim();
  if (text.length > MAX_LENGTH || CONTROL_CHARACTERS.test(text)) return undefined;
  const hostname = URL.parse(withScheme(text) ?? '')?.hostname.replace(/\.$/, '');
  if (hostname === undefined || hostname.length > MAX_LENGTH || !LABELS.test(hostname)) return undefined;
  const domain = registrableDomain(hostname);
  return domain !== undefined && DOMAIN.test(domain) ? domain : undefined;
}

/** Undefined for schemes other than http and https. The text before a colon may be a host name, too: `example.com:8443`. */
function withScheme(text: string): string | undefined {
  if (HTTP.test(text)) return text;
  if (text.startsWith('//')) return `https:${text}`;
  const [authority = ''] = text.split(/[/\\?#]/, 1);
  // Without a scheme it is an e-mail address, or a scheme without slashes: mailto:a@example.com.
  return OTHER_SCHEME.test(text) || authority.includes('@') ? undefined : `https://${text}`;
}
