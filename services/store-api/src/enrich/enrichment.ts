import { canonicalDomain } from '@vitrine/stores/canonical-domain';
import type { LedgerEntry } from '@vitrine/stores/metering/charge-usage';
import type { LastAttempt } from '@vitrine/stores/resources/enrichment';
import type { noMatchReason } from '@vitrine/stores/resources/enumerations';
import type { QueuedScan } from '@vitrine/stores/scans/queue-scans';
import type { z } from 'zod';

export type NoMatchReason = z.infer<typeof noMatchReason>;

/** The stored facts of a domain. `profile`: the stored JSON of the Store. */
export type Finding = (
  | { readonly match: 'matched' | 'stale'; readonly profile: string }
  | { readonly match: 'no_match'; readonly reason: NoMatchReason }
) & { readonly lastAttempt: LastAttempt | null };

const NOT_IN_CORPUS: Finding = { match: 'no_match', reason: 'not_in_corpus', lastAttempt: null };
const INVALID_DOMAIN: Finding = { match: 'no_match', reason: 'invalid_domain', lastAttempt: null };

/** An input and its domain; undefined when it is not a domain. */
interface EnrichInput {
  readonly input: string;
  readonly domain: string | undefined;
}

export function enrichInputs(inputs: readonly string[]): EnrichInput[] {
  return inputs.map((input) => ({ input, domain: canonicalDomain(input) }));
}

/** The domains of a batch, each once. */
export function domainsOf(inputs: readonly EnrichInput[]): string[] {
  return [...new Set(inputs.flatMap(({ domain }) => (domain === undefined ? [] : [domain])))];
}

export function findingOf(domain: string | undefined, findings: ReadonlyMap<string, Finding>): Finding {
  return domain === undefined ? INVALID_DOMAIN : (findings.get(domain) ?? NOT_IN_CORPUS);
}

/** Domains whose scans `refresh` queues: stale ones and those not in the corpus. Spec: S3.17. */
export function domainsToScan(domains: readonly string[], findings: ReadonlyMap<string, Finding>): string[] {
  return domains.filter((domain) => {
    const finding = findingOf(domain, findings);
    return finding.match === 'stale' || (finding.match === 'no_match' && finding.reason === 'not_in_corpus');
  });
}

/** The cost of a batch: one unit for each returned store, however many inputs refer to it, and one for each queued scan.
 *  Spec: S3.16, S6.10. */
export function entriesOf(findings: ReadonlyMap<string, Finding>, scans: ReadonlyMap<string, QueuedScan>): LedgerEntry[] {
  const entries: LedgerEntry[] = [];
  for (const [domain, { match }] of findings) if (match !== 'no_match') entries.push({ domain, unit: 'lookup_cached' });
  for (const [domain, { state }] of scans) if (state === 'new') entries.push({ domain, unit: 'lookup_live' });
  return entries;
}

export interface Enrichment {
  readonly request_id: string;
  readonly inputs: readonly EnrichInput[];
  readonly findings: ReadonlyMap<string, Finding>;
  readonly scans: ReadonlyMap<string, QueuedScan>;
  readonly billed: { readonly lookup_cached: number; readonly lookup_live: number };
}

/** EnrichResponse as JSON in UTF-8. Stored profiles are inserted without parsing: parsing 100 of them would take longer than everything else. So
 *  would one string of all (800 KB), which has to be flattened, measured and encoded. */
export function renderEnrichment({ request_id, inputs, findings, scans, billed }: Enrichment): Buffer {
  // The text between two profiles is one part, because a part costs as much as a hundred bytes.
  const parts: string[] = [];
  let text = `{"request_id":${JSON.stringify(request_id)},"results":[`;
  for (const [at, { input, domain }] of inputs.entries()) {
    const finding = findingOf(domain, findings);
    text += `${at === 0 ? '' : ','}{"input":${JSON.stringify(input)},"match":"${finding.match}","reason":`;
    if (finding.match === 'no_match') text += `"${finding.reason}","store":null`;
    else {
      parts.push(`${text}null,"store":`, finding.profile);
      text = '';
    }
    const scan = domain === undefined ? undefined : scans.get(domain);
    text += `,"scan_requested":${scan !== undefined && scan.state !== 'failed'},"scan_job_id":${JSON.stringify(scan?.scan_job_id ?? null)}`;
    text += `,"last_attempt":${JSON.stringify(finding.lastAttempt)}}`;
  }
  parts.push(`${text}],"billed":{"lookup_cached":${billed.lookup_cached},"lookup_live":${billed.lookup_live}}}`);
  return encoded(parts);
}

function encoded(parts: readonly string[]): Buffer {
  const bytes = Buffer.allocUnsafe(parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0));
  let at = 0;
  for (const part of parts) at += bytes.write(part, at);
  return bytes;
}
