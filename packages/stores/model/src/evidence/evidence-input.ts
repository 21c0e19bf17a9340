import { createHash } from 'node:crypto';
import { z } from 'zod';
import { canonicalDomain } from '../canonical-domain.ts';
import { isStorableText, STORABLE_RULE } from '../storable-text.ts';

/** Claims of one capture. */
const MAX_CLAIMS = 100;
const MAX_CLAIM_CHARACTERS = 1_000;
const MAX_URL_CHARACTERS = 2_048;
/** Clocks of captures may be ahead of ours by this much. */
const CLOCK_SKEW_MS = 300_000;

const sourceUrl = z
  .string()
  .max(MAX_URL_CHARACTERS)
  .refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''), 'must be an http:// or https:// URL')
  .refine(isStorableText, STORABLE_RULE);

const claim = z.strictObject({
  domain: z
    .string()
    .max(253)
    .transform((text, context) => {
      const domain = canonicalDomain(text);
      if (domain !== undefined) return domain;
      context.issues.push({ code: 'custom', message: 'must have a public registrable domain', input: text });
      return z.NEVER;
    })
    .nullable()
    .default(null),
  technology_slug: z.string().max(100).refine(isStorableText, STORABLE_RULE).nullable().default(null),
  claim: z.string().trim().min(1).max(MAX_CLAIM_CHARACTERS).refine(isStorableText, STORABLE_RULE),
});

/** Relationships between stores and technologies that a capture of a page claims, such as a case study of a vendor. `nowMs`: milliseconds since
 *  the epoch; a capture must not be in the future. */
export const evidenceInput = (nowMs: number) =>
  z.strictObject({
    source_url: sourceUrl,
    captured_at: z
      .number()
      .max(nowMs + CLOCK_SKEW_MS, 'must not be in the future')
      .describe('Milliseconds since the epoch.'),
    claims: z.array(claim).min(1).max(MAX_CLAIMS),
  });
export type EvidenceInput = z.output<ReturnType<typeof evidenceInput>>;

/** Equal for equivalent inputs: domains are canonical and defaults are filled in. */
export function evidenceFingerprint({ source_url, captured_at, claims }: EvidenceInput): Uint8Array {
  const parts = claims.map(({ domain, technology_slug, claim: text }) => [domain, technology_slug, text]);
  return createHash('sha256')
    .update(JSON.stringify([source_url, captured_at, parts]))
    .digest();
}
