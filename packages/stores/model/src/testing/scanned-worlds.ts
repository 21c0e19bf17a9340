import fc from 'fast-check';
import { DEMO_FACTS } from '../demo/demo-store.ts';
import type { Detections, DetectedTechnology } from '../observation/observation-facts.ts';
import type { DerivationContext, LoggedObservation } from '../signals/derivation-context.ts';
import { DAY_MS, idOf, T0 } from './store-states.ts';

// Simulated stores with a known true state, and scans that see a part of it: pages and channels are lost, rules differ, evidence may not
// be kept.

const PLATFORM = 'shopify';
const SLUGS = ['gorgias', 'hotjar', 'klaviyo', 'shopify-theme-dawn'];
/** Cannot be judged if the platform was not seen. */
const NEEDS_PLATFORM = 'shopify-theme-dawn';
const CLASSES = ['home', 'product'];
const CHANNELS = ['host', 'meta'];
const PLACES = CLASSES.flatMap((page_class) => CHANNELS.map((channel) => ({ page_class, channel })));

/** The channels of each rule, by registry and slug. Equal rules have equal ids. */
type Registries = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
/** The location of each technology of a store. */
type Truth = Readonly<Record<string, readonly (typeof PLACES)[number][]>>;

export interface Scan {
  readonly truth: Truth;
  readonly pages: Readonly<Record<string, readonly string[]>>;
  readonly observation: LoggedObservation;
}
export interface World {
  readonly scans: readonly Scan[];
  readonly context: DerivationContext;
}

function detect({ truth, pages }: Pick<Scan, 'truth' | 'pages'>, rules: Registries[string] | undefined): Detections {
  const technologies = Object.entries(truth).flatMap(([slug, places]): DetectedTechnology[] => {
    const sightings = places
      .filter(({ page_class, channel }) => pages[page_class]?.includes(channel) === true && rules?.[slug]?.includes(channel))
      .map((place) => ({ ...place, rule: `${slug}:${place.channel}` }));
    return sightings.length === 0 ? [] : [{ slug, install_state: 'active', confidence: 'high', sightings }];
  });
  const hasPlatform = technologies.some(({ slug }) => slug === PLATFORM);
  return {
    pages: Object.fromEntries(Object.entries(pages).map(([page, channels]) => [page, [...channels]])),
    technologies: technologies.filter(({ slug }) => hasPlatform || slug !== NEEDS_PLATFORM),
    withheld: hasPlatform ? [] : [NEEDS_PLATFORM],
  };
}

const mostlyAll = fc.oneof({ weight: 5, arbitrary: fc.constant(CHANNELS) }, { weight: 1, arbitrary: fc.subarray(CHANNELS) });
const registries: fc.Arbitrary<Registries> = fc.record(
  Object.fromEntries(
    ['v1', 'v2', 'v3'].map((version) => [
      version,
      fc.record(Object.fromEntries([PLATFORM, ...SLUGS].map((slug) => [slug, mostlyAll]))),
    ]),
  ),
);
/** The fixed location of each technology while present. One that moves to an unread page could not be distinguished from one that comes and goes. */
const homes: fc.Arbitrary<Truth> = fc.record(
  Object.fromEntries([PLATFORM, ...SLUGS].map((slug) => [slug, fc.subarray(PLACES, { minLength: 1 })])),
);
const scanPlans = fc.record({
  version: fc.oneof({ weight: 4, arbitrary: fc.constant('v1') }, { weight: 1, arbitrary: fc.constantFrom('v2', 'v3') }),
  keepsEvidence: fc.boolean(),
  condition: fc.oneof(
    { weight: 6, arbitrary: fc.constant('open' as const) },
    { weight: 1, arbitrary: fc.constantFrom('closed' as const, 'redirected' as const) },
  ),
  scope: fc.oneof(
    { weight: 4, arbitrary: fc.constant('full' as const) },
    { weight: 1, arbitrary: fc.constantFrom('partial' as const, 'homepage_only' as const) },
  ),
  home: mostlyAll,
  product: fc.oneof({ weight: 5, arbitrary: mostlyAll }, { weight: 1, arbitrary: fc.constant(undefined) }),
});
const day = fc.nat({ max: 20 });

/** Stores with technologies that come and go, or stay if `isConstant`. */
export function worlds(isConstant: boolean): fc.Arbitrary<World> {
  const inputs = fc.record({
    registries,
    homes,
    comings: fc.array(fc.record({ slug: fc.constantFrom(...SLUGS), from: day, to: day }), { maxLength: isConstant ? 0 : 8 }),
    plans: fc.array(scanPlans, { minLength: 1, maxLength: 20, size: 'max' }),
    holds: fc.array(fc.tuple(fc.constantFrom(...SLUGS), day), { maxLength: 3 }),
  });
  return inputs.map((input) => {
    const scans = input.plans.map((plan, day): Scan => {
      const isThere = (slug: string) =>
        isConstant || slug === PLATFORM || input.comings.some((one) => one.slug === slug && one.from <= day && day < one.to);
      const truth = Object.fromEntries(Object.entries(input.homes).filter(([slug]) => isThere(slug)));
      const pages = { home: plan.home, ...(plan.product === undefined ? {} : { product: plan.product }) };
      const { condition, scope, version } = plan;
      const found = detect({ truth, pages }, input.registries[version]);
      const facts = { ...DEMO_FACTS, ...found, condition, scope };
      const observation = { id: idOf('obs', day), completed_at: T0 + day * DAY_MS, registry_checksum: version, facts };
      return { truth, pages, observation };
    });
    const byId = new Map(scans.map((scan, day) => [scan.observation.id, { scan, plan: input.plans[day] }]));
    const context: DerivationContext = {
      storefront_id: idOf('sf', 1),
      ruleIds: (version) =>
        new Set(
          Object.entries(input.registries[version] ?? {}).flatMap(([slug, channels]) => channels.map((one) => `${slug}:${one}`)),
        ),
      isHeld: (slug, at) => input.holds.some(([held, day]) => held === slug && at === T0 + day * DAY_MS),
      replay: (id, version) => {
        const known = byId.get(id);
        return known?.plan?.keepsEvidence === true ? detect(known.scan, input.registries[version]) : undefined;
      },
    };
    return { scans, context };
  });
}
