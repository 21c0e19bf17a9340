import { DEMO_FACTS } from '../demo/demo-store.ts';
import type { DetectedTechnology, ObservationFacts } from '../observation/observation-facts.ts';
import type { DerivationContext, LoggedObservation } from '../signals/derivation-context.ts';
import { DAY_MS, idOf, T0 } from './store-states.ts';

/** Of a day, in tenths. */
export const observationId = (day: number): string => idOf('obs', Math.round(day * 10));

export const PAGES = { home: ['host', 'meta'], product: ['host', 'meta'] };

/** A technology that was seen on pages, by the host channel unless the place says `page:channel`. */
export function seen(slug: string, places: readonly string[] = ['home'], changes: Partial<DetectedTechnology> = {}) {
  const sightings = places.map((place) => {
    const [page_class = '', channel = 'host'] = place.split(':');
    return { page_class, channel, rule: `${slug}:1` };
  });
  return { slug, install_state: 'active' as const, confidence: 'high' as const, sightings, ...changes };
}

/** The observation of the n-th day: a full scan of an open shop on Shopify with the given additions. */
export function observed(
  day: number,
  technologies: readonly DetectedTechnology[] = [],
  changes: Partial<ObservationFacts> = {},
  registry_checksum = 'v1',
): LoggedObservation {
  const hasPlatform = !('shows_commerce' in changes);
  const facts: ObservationFacts = {
    ...DEMO_FACTS,
    pages: PAGES,
    technologies: [...(hasPlatform ? [seen('shopify', ['home:meta'])] : []), ...technologies],
    ...changes,
  };
  return { id: observationId(day), completed_at: T0 + day * DAY_MS, registry_checksum, facts };
}

/** A day on which the shop shows a page that is not open. */
export const notOpen = (day: number, condition: ObservationFacts['condition'] = 'closed'): LoggedObservation =>
  observed(day, [], {
    condition,
    scope: 'homepage_only',
    shows_commerce: false,
    shows_products: false,
    technologies: [],
    pages: {},
  });

export const CONTEXT: DerivationContext = {
  storefront_id: idOf('sf', 1),
  ruleIds: () => undefined,
  isHeld: () => false,
  replay: () => undefined,
};
