import { HEADER_BOUND, TEXT_BOUND } from './evidence.ts';
import { EvidenceList } from './evidence-list.ts';

/** Header fields by lower-case name, as returned by node:http and undici. */
export type ResponseHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Fields whose value identifies the software. Only the names of others are kept, because their values are ids and times of one request. */
const WITH_VALUE = new Set([
  'content-language', 'powered', 'powered-by', 'server', 'via', 'x-cache', 'x-generator', 'x-platform', 'x-powered-by', 'x-powered-cms', 'x-served-by', 'x-cdn', 'x-shopid', 'x-shopify-stage',
]); // prettier-ignore
const NAMES = /^(?:x-|cf-|sw-|nel$|surrogate-key$|fastly-|akamai-|oc-|weglot-|platform$|server-timing$|liferay-portal$|ki-)/;
const CSP = ['content-security-policy', 'content-security-policy-report-only'];
const HOST_IN_POLICY = /^(?:https?:\/\/|wss?:\/\/)?(?:\*\.)?((?:[a-z0-9-]+\.)+[a-z]{2,})(?:[:/]|$)/i;
/** A longer policy is cut. */
const POLICY_BOUND = 16_384;

/** The allowed fields. Values are cut to 200 characters. Only names of metrics are kept of `server-timing`, to omit visitor data such as the
 *  country. */
export function headerEvidence(headers: ResponseHeaders): Record<string, string> {
  const kept: Record<string, string> = {};
  let count = 0;
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || count >= HEADER_BOUND || name.length > TEXT_BOUND) continue;
    const hasValue = WITH_VALUE.has(name);
    if (!hasValue && !NAMES.test(name)) continue;
    const text = typeof value === 'string' ? value : value.join(', ');
    kept[name] = name === 'server-timing' ? metricsOf(text) : hasValue ? text.slice(0, TEXT_BOUND) : '';
    count++;
  }
  return kept;
}

function metricsOf(serverTiming: string): string {
  const names = serverTiming.slice(0, POLICY_BOUND).split(',', 40);
  return names
    .map((metric) => metric.split(';', 1)[0]?.trim() ?? '')
    .join(',')
    .slice(0, TEXT_BOUND);
}

/** Hosts that the content security policy of a page allows. */
export function addPolicyHosts(headers: ResponseHeaders, hints: EvidenceList): void {
  for (const name of CSP) {
    const value = headers[name];
    if (value === undefined) continue;
    const text = typeof value === 'string' ? value : value.join(' ');
    for (const word of text.slice(0, POLICY_BOUND).split(/[\s;,]+/)) {
      const host = HOST_IN_POLICY.exec(word)?.[1];
      if (host !== undefined) hints.add(host.toLowerCase());
    }
  }
}
