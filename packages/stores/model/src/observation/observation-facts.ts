import { z } from 'zod';
import { catalogCoverage, confidence, installState, observationScope, count } from '../resources/enumerations.ts';
import { geography, industry, priceRange } from '../resources/store.ts';

/** The names that detection gives to kinds of pages (home, product, collection, cart, endpoint) and to channels (host, header, cookie, ...). */
const name = z.string().regex(/^[a-z][a-z0-9_-]{0,31}$/);
const text = (maxLength: number) => z.string().min(1).max(maxLength);
const slug = text(100);
const domain = text(253);

/** A sighting of a technology: the matching rule, the class of pages, and the channel. The id of a rule changes with the rule. */
export const sighting = z.strictObject({ page_class: name, channel: name, rule: text(200) });
export type Sighting = z.infer<typeof sighting>;

/** A detected technology; platforms are technologies. */
const detectedTechnology = z.strictObject({
  slug,
  install_state: installState.extract(['active', 'configured']),
  confidence,
  sightings: z.array(sighting).min(1).max(64),
});
export type DetectedTechnology = z.infer<typeof detectedTechnology>;

/** The detections of rules on the evidence of a scan, the same in a replay. */
export const detections = z.strictObject({
  /** The classes of pages that were read, with the readable channels of each. Nothing outside these can count as missed. */
  pages: z.record(name, z.array(name).max(32)),
  technologies: z.array(detectedTechnology).max(2_000),
  /** Slugs that could not be judged in this scan, such as technologies whose platform was not seen. They count neither as missed nor as absent. */
  withheld: z.array(slug).max(2_000),
});
export type Detections = z.infer<typeof detections>;

/** The state of the home page. `closed`: declared closed, or 404 and 410; `password`: not open to the public; `parked`: no site; `redirected`:
 *  permanently to another domain, whose pages are not facts of this one. All but `open` are only a status. */
export const storefrontCondition = z.enum(['open', 'closed', 'password', 'parked', 'redirected']);
export type StorefrontCondition = z.infer<typeof storefrontCondition>;

/** An organisation that the store's structured data declares as its own. */
export const organization = z.strictObject({
  name: text(300).nullable(),
  /** `@id` or `url`. */
  url: text(2_000).nullable(),
  /** Registration numbers with their kind: `vatID:DE123456789`, `leiCode:...`, `duns:...`. */
  identifiers: z.array(text(200)).max(10),
});

/** The result of a completed scan, stored unchanged in the log. The census of the catalog completes with the scan. Spec: S8.10 to S8.15. */
export const observationFacts = z.strictObject({
  version: z.literal(1),
  domain,
  storefront_host: domain,
  name: text(500).nullable(),
  condition: storefrontCondition,
  scope: observationScope,
  coverage_note: text(1_000).nullable(),
  /** Commerce was seen: a platform, offers, a cart or checkout. */
  shows_commerce: z.boolean(),
  /** A catalog or an available product was seen. */
  shows_products: z.boolean(),
  ...detections.shape,
  geography,
  industry,
  catalog: z
    .strictObject({
      product_count: count,
      available_count: count.nullable(),
      currency: z.string().length(3).nullable(),
      price_range: priceRange.nullable(),
      coverage: catalogCoverage,
    })
    .nullable(),
  /** As stated by the server in a header or a settings endpoint, never by scripts in pages. */
  platform_shop_id: z.strictObject({ platform: slug, id: text(200) }).nullable(),
  organization: organization.nullable(),
  /** Canonical domains of `<link rel="alternate" hreflang>`, without the store's own. */
  hreflang_domains: z.array(domain).max(100),
  /** Canonical domain to which the home page redirects with only permanent redirects, if it is another. */
  permanent_redirect: domain.nullable(),
});
export type ObservationFacts = z.infer<typeof observationFacts>;

/** A completed scan. Blocked and failed attempts are not observations. Times are milliseconds since the epoch. */
export interface Observation {
  readonly id: string;
  readonly scan_job_id: string | null;
  readonly started_at: number;
  readonly completed_at: number;
  /** Checksum of the rules that produced the facts. */
  readonly registry_checksum: string;
  readonly facts: ObservationFacts;
  /** The input of the rules; undefined if it was not kept. */
  readonly evidence?: unknown;
}
