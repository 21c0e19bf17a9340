import { describe, expect, test } from '@jest/globals';
import { signalId } from '../identifiers.ts';
import { CONTEXT, notOpen, observationId, observed, PAGES, seen } from '../testing/observations.ts';
import { T0, DAY_MS } from '../testing/store-states.ts';
import type { DerivationContext, LoggedObservation } from './derivation-context.ts';
import { deriveLog } from '../testing/derive-log.ts';
import { replaysNeeded, reinterpretWithRules } from './reinterpret-with-rules.ts';
import { storeStateOf } from './derivation-state.ts';

const KLAVIYO = seen('klaviyo');
const on = (...places: string[]) => seen('klaviyo', places);
const HOME_ONLY = { scope: 'homepage_only' as const, pages: { home: PAGES.home } };
const bare = (day: number, changes = {}) => observed(day, [], changes);
const magento = (day: number, changes = {}) => observed(day, [], { technologies: [seen('magento')], ...changes });
const both = (day: number) => observed(day, [seen('magento')]);
const noShop = (day: number, changes = {}) =>
  observed(day, [], { shows_commerce: false, shows_products: false, catalog: null, technologies: [], ...changes });
const verified = (day: number) => observed(day, [], { shows_products: false, catalog: null });

/** Signals as `type subject first-day>confirmed-day`, without those of the first observation. */
function signalsOf(log: readonly LoggedObservation[], context = CONTEXT): string[] {
  const day = (ms: number) => (ms - T0) / DAY_MS;
  return (deriveLog(log, context)?.signals ?? [])
    .filter(
      ({ type, confirmed_at }) => type !== 'store_first_observed' && (type !== 'store_became_active' || day(confirmed_at) > 1),
    )
    .map(({ type, technology, from, to, effective_at, confirmed_at }) =>
      [type, technology ?? (from === null ? '' : `${from}>${to}`), `${day(effective_at)}>${day(confirmed_at)}`]
        .filter(Boolean)
        .join(' '),
    );
}

test.each<[string, LoggedObservation[], string[]]>([
  ['what the first scan finds is no addition', [observed(1, [KLAVIYO])], []],
  ['an addition after a comparable scan without it', [bare(1), observed(2, [KLAVIYO])], ['technology_added klaviyo 2>2']],
  ['no addition on pages that were not read before', [bare(1, HOME_ONLY), observed(2, [on('product')])], []],
  [
    'no addition by a channel that was not read before',
    [bare(1, { pages: { home: ['meta'], product: ['meta'] } }), observed(2, [KLAVIYO])],
    [],
  ],
  [
    'no addition where one of its places was not read before',
    [bare(1, { pages: { home: ['host'] } }), observed(2, [on('home', 'product')])],
    [],
  ],
  ['no addition after a narrower scan', [bare(1, { scope: 'partial' }), observed(2, [KLAVIYO])], []],
  [
    'an addition against an earlier comparable scan, past one that is not',
    [bare(1), bare(2, HOME_ONLY), observed(3, [on('product')])],
    ['technology_added klaviyo 3>3'],
  ],
  ['no addition when the scan before could not judge it', [bare(1, { withheld: ['klaviyo'] }), observed(2, [KLAVIYO])], []],
  ['no addition under other rules', [bare(1), observed(2, [KLAVIYO], {}, 'v2')], []],
  ['no addition after a page that was not open', [notOpen(1), observed(2, [KLAVIYO])], ['store_became_active 2>2']],
  [
    'three comparable misses are a removal, which began with the first',
    [observed(1, [KLAVIYO]), bare(2), bare(3), bare(4)],
    ['technology_removed klaviyo 2>4'],
  ],
  ['two misses are none', [observed(1, [KLAVIYO]), bare(2), bare(3)], []],
  ['a sighting resets misses', [observed(1, [KLAVIYO]), bare(2), bare(3), observed(4, [KLAVIYO]), bare(5), bare(6)], []],
  [
    'a sighting on another page is a sighting',
    [observed(1, [KLAVIYO]), bare(2), bare(3), observed(4, [on('product:meta')]), bare(5), bare(6)],
    [],
  ],
  [
    'scans that did not read its pages neither count nor reset',
    [observed(1, [on('product')]), bare(2), bare(3, HOME_ONLY), bare(4), bare(5, HOME_ONLY), bare(6)],
    ['technology_removed klaviyo 2>6'],
  ],
  [
    'scans that lost its channel do not count',
    [observed(1, [KLAVIYO]), ...[2, 3, 4, 5].map((day) => bare(day, { pages: { home: ['meta'], product: ['host', 'meta'] } }))],
    [],
  ],
  [
    'scans that could not judge it do not count',
    [observed(1, [KLAVIYO]), ...[2, 3, 4, 5].map((day) => bare(day, { withheld: ['klaviyo'] }))],
    [],
  ],
  ['narrower scans do not count', [observed(1, [KLAVIYO]), ...[2, 3, 4, 5].map((day) => bare(day, { scope: 'partial' }))], []],
  [
    'closed, password and parked pages do not count',
    [observed(1, [KLAVIYO]), bare(2), bare(3), notOpen(4, 'password'), bare(5)],
    ['technology_removed klaviyo 2>5'],
  ],
  ['scans under other rules do not count', [observed(1, [KLAVIYO]), ...[2, 3, 4].map((day) => observed(day, [], {}, 'v2'))], []],
  [
    'configured is removed by the same rule',
    [observed(1, [seen('klaviyo', ['home'], { install_state: 'configured' })]), bare(2), bare(3), bare(4)],
    ['technology_removed klaviyo 2>4'],
  ],
  [
    'active and configured are no signal',
    [observed(1, [KLAVIYO]), observed(2, [seen('klaviyo', ['home'], { install_state: 'configured' })]), observed(3, [KLAVIYO])],
    [],
  ],
  [
    'a sighting after a removal is an addition again',
    [observed(1, [KLAVIYO]), bare(2), bare(3), bare(4), observed(5, [on('product')])],
    ['technology_removed klaviyo 2>4', 'technology_added klaviyo 5>5'],
  ],
  ['a migration takes two scans', [bare(1), magento(2), magento(3)], ['platform_migrated shopify>magento 2>3']],
  [
    'a scan that shows both is no migration and begins anew',
    [bare(1), magento(2), both(3), magento(4), magento(5)],
    ['platform_migrated shopify>magento 4>5'],
  ],
  ['platforms side by side are no migration', [bare(1), both(2), both(3), both(4)], []],
  [
    'a scan that could not show the platform before is no migration',
    [bare(1), magento(2), ...[3, 4].map((day) => magento(day, { pages: { home: ['host'], product: ['host'] } }))],
    [],
  ],
  [
    'a weak hint is no platform',
    [bare(1), ...[2, 3].map((day) => observed(day, [], { technologies: [seen('magento', ['home'], { confidence: 'low' })] }))],
    [],
  ],
  [
    'a third platform begins anew',
    [bare(1), magento(2), observed(3, [], { technologies: [seen('vtex')] }), magento(4), magento(5)],
    ['platform_migrated shopify>magento 4>5'],
  ],
  [
    'what belongs to a platform goes with it',
    [observed(1, [KLAVIYO]), ...[2, 3, 4, 5].map((day) => magento(day, { withheld: ['klaviyo'] }))],
    ['platform_migrated shopify>magento 2>3', 'technology_removed klaviyo 3>5'],
  ],
  ['one closed scan is no inactivity', [bare(1), notOpen(2), bare(3), notOpen(4)], []],
  [
    'two closed scans are inactivity, which began with the first',
    [bare(1), notOpen(2, 'parked'), notOpen(3)],
    ['store_became_inactive 2>3'],
  ],
  [
    'a redirect says nothing of the status',
    [bare(1), notOpen(2), notOpen(3, 'redirected'), notOpen(4, 'redirected'), bare(5)],
    [],
  ],
  ['two full scans without commerce are inactivity', [bare(1), noShop(2), noShop(3)], ['store_became_inactive 2>3']],
  ['narrow scans without commerce are none', [bare(1), ...[2, 3, 4].map((day) => noShop(day, HOME_ONLY))], []],
  [
    'a store becomes active again',
    [bare(1), notOpen(2), notOpen(3), bare(4)],
    ['store_became_inactive 2>3', 'store_became_active 4>4'],
  ],
  ['a store that was never active does not become inactive', [verified(1), notOpen(2), notOpen(3)], []],
  ['a store becomes active with its first product', [verified(1), bare(2)], ['store_became_active 2>2']],
  ['a shop without its products is still active', [bare(1), verified(2), verified(3)], []],
])('%s', (_, log, expected) => {
  expect(signalsOf(log)).toEqual(expected);
  // For any order of delivery.
  expect(deriveLog([...log, ...log].toReversed(), CONTEXT)).toEqual(deriveLog(log, CONTEXT));
});

test('states follow: status, platform, technologies with their dates', () => {
  const stateAfter = (...log: LoggedObservation[]) => deriveLog(log, CONTEXT)?.state;
  expect(stateAfter(noShop(1))).toMatchObject({ status: { state: 'reachable' }, is_ecommerce: false });
  expect(stateAfter(verified(1))).toMatchObject({ status: { state: 'verified_ecommerce' }, is_ecommerce: true });
  expect(stateAfter(noShop(1), notOpen(2), notOpen(3), noShop(4))).toMatchObject({ status: { state: 'reachable' } });
  const removed = stateAfter(observed(1, [KLAVIYO]), observed(2, [KLAVIYO]), bare(3), bare(4), bare(5));
  expect(removed).toMatchObject({
    status: { state: 'active_storefront', as_of: T0 + 5 * DAY_MS },
    platform: { slug: 'shopify', first_observed_at: T0 + DAY_MS, last_confirmed_at: T0 + 5 * DAY_MS },
    technologies: [{ install_state: 'inactive', first_observed_at: T0 + DAY_MS, last_confirmed_at: T0 + 2 * DAY_MS }],
  });
  expect(stateAfter(bare(1), magento(2), magento(3))).toMatchObject({
    platform: { slug: 'magento', first_observed_at: T0 + 2 * DAY_MS, last_confirmed_at: T0 + 3 * DAY_MS },
  });
});

test('a page that is not open changes nothing but status and dates', () => {
  const before = deriveLog([observed(1, [KLAVIYO])], CONTEXT)?.state;
  const after = deriveLog([observed(1, [KLAVIYO]), notOpen(2)], CONTEXT)?.state;
  expect({ ...after, last: null, observation: null, absence: null }).toEqual({
    ...before,
    last: null,
    observation: null,
    absence: null,
  });
});

test('a guess does not replace a statement, and missing facts do not replace known ones', () => {
  const unknown = { geography: { country: null, basis: null }, industry: { slug: null, basis: null }, catalog: null, name: null };
  const guess = { geography: { country: 'US', basis: 'inferred' as const } };
  const first = deriveLog([bare(1)], CONTEXT)?.state;
  for (const changes of [unknown, guess]) {
    const { geography, industry, catalog, name } = deriveLog([bare(1), bare(2, changes)], CONTEXT)?.state ?? {};
    expect([geography, industry, name]).toEqual([first?.geography, first?.industry, first?.name]);
    expect(catalog?.as_of).toBe('catalog' in changes ? T0 + DAY_MS : T0 + 2 * DAY_MS);
  }
});

test('the id of a signal depends on its fact and on the first observation in the new state', () => {
  const { signals = [] } = deriveLog([observed(1, [KLAVIYO]), bare(2), bare(3), bare(4)], CONTEXT) ?? {};
  const { storefront_id } = CONTEXT;
  expect(signals.at(-1)).toMatchObject({
    id: signalId({ storefront_id, type: 'technology_removed', subject: 'klaviyo', observation_id: observationId(2) }),
    observation_id: observationId(4),
    confidence: 'high',
  });
});

test('a held removal is applied at the next completed observation after the hold, unless the technology is seen again', () => {
  const context = { ...CONTEXT, isHeld: (slug: string, at: number) => slug === 'klaviyo' && at < T0 + 5 * DAY_MS };
  const log = [observed(1, [KLAVIYO]), bare(2), bare(3), bare(4)];
  expect(signalsOf(log, context)).toEqual([]);
  expect(deriveLog(log, context)?.state.technologies).toMatchObject([{ install_state: 'active', misses: { count: 3 } }]);
  expect(signalsOf([...log, bare(5, HOME_ONLY)], context)).toEqual(['technology_removed klaviyo 2>5']);
  expect(signalsOf([...log, observed(5, [KLAVIYO]), bare(6)], context)).toEqual([]);
});

const V2 = (day: number, ...technologies: ReturnType<typeof seen>[]) => observed(day, technologies, {}, 'v2');
/** Under v2, detections on the evidence of each of these days. */
const replayed = (byDay: Readonly<Record<number, ReturnType<typeof seen>[]>>) => ({
  ...CONTEXT,
  replay: (id: string, registry_checksum: string) => {
    const entry = Object.entries(byDay).find(([day]) => observationId(Number(day)) === id);
    if (registry_checksum !== 'v2' || entry === undefined) return undefined;
    return { pages: PAGES, technologies: [seen('shopify', ['home:meta']), ...entry[1]], withheld: [] };
  },
});

test.each([
  ['a rule that would have found it before makes no addition', [bare(1), V2(2, KLAVIYO)], replayed({ 1: [KLAVIYO] }), []],
  [
    'what the new rules do not find in old evidence was added',
    [bare(1), V2(2, KLAVIYO)],
    replayed({ 1: [] }),
    ['technology_added klaviyo 2>2'],
  ],
  ['without evidence nothing is an addition', [bare(1), V2(2, KLAVIYO)], CONTEXT, []],
  [
    'a superset of rules is comparable',
    [bare(1), V2(2, KLAVIYO)],
    { ...CONTEXT, ruleIds: () => new Set(['klaviyo:1']) },
    ['technology_added klaviyo 2>2'],
  ],
  [
    'misses go on under new rules that find it in old evidence',
    [observed(1, [KLAVIYO]), bare(2), V2(3), V2(4)],
    replayed({ 1: [on('home:meta')] }),
    ['technology_removed klaviyo 2>4'],
  ],
  [
    'what the new rules do not find in old evidence was never there: no removal',
    [observed(1, [KLAVIYO]), V2(2), V2(3), V2(4), V2(5)],
    replayed({ 1: [], 2: [] }),
    [],
  ],
  ['and its return is no addition', [observed(1, [KLAVIYO]), V2(2), V2(3), V2(4, KLAVIYO)], replayed({ 1: [] }), []],
  [
    'what a scan under other rules had before its rules could see it is no addition',
    [V2(1), bare(2), V2(3, KLAVIYO)],
    replayed({ 2: [KLAVIYO] }),
    [],
  ],
  [
    'a removal by old rules that new rules undo makes no addition',
    [observed(1, [KLAVIYO]), bare(2), bare(3), bare(4), V2(5, KLAVIYO)],
    replayed({ 2: [KLAVIYO], 3: [KLAVIYO], 4: [KLAVIYO] }),
    ['technology_removed klaviyo 2>4'],
  ],
])('rules change: %s', (_, log, context, expected) => {
  expect(signalsOf(log, context)).toEqual(expected);
});

test('a technology that was never there under new rules is not shown', () => {
  const { state } = deriveLog([observed(1, [KLAVIYO]), V2(2)], replayed({ 1: [] })) ?? {};
  expect(state?.technologies).toMatchObject([{ slug: 'klaviyo', is_retracted: true }]);
});

test('evidence without the data for new rules retracts nothing', () => {
  const context = { ...CONTEXT, replay: () => ({ pages: { home: ['meta'] }, technologies: [], withheld: [] }) };
  const { state } = deriveLog([observed(1, [KLAVIYO]), V2(2)], context) ?? {};
  expect(state?.technologies).toMatchObject([{ slug: 'klaviyo', is_retracted: false, install_state: 'active' }]);
});

test('a change of rules needs the evidence of coverages and of last sightings', () => {
  const { state } = deriveLog([observed(1, [KLAVIYO]), bare(2, HOME_ONLY), bare(3)], CONTEXT) ?? {};
  expect(replaysNeeded(state, 'v2')).toEqual([3, 1].map((day) => observationId(day)));
  expect([replaysNeeded(state, 'v1'), replaysNeeded(undefined, 'v2')]).toEqual([[], []]);
});

describe('a state under other rules, without a scan', () => {
  const HOTJAR = seen('hotjar');
  const WEAK = { confidence: 'low' as const };
  const under = (log: readonly LoggedObservation[], context: DerivationContext) => {
    const { state } = deriveLog(log, context) ?? {};
    if (state === undefined) throw new Error('an empty log');
    const shown = reinterpretWithRules(state, 'v2', context);
    expect(reinterpretWithRules(shown, 'v2', context)).toEqual(shown);
    return storeStateOf(shown, { domain: 'a.com', storefront_id: 'sf_1', brand_group_id: null });
  };
  const day = (ms: number) => (ms - T0) / DAY_MS;

  test.each([
    ['lists what the last open scan shows by them', [bare(1), bare(2), notOpen(3)], { 2: [HOTJAR] }, ['hotjar high 2 2']],
    ['since the first scan that is compared', [bare(1), bare(2, HOME_ONLY)], { 1: [HOTJAR], 2: [HOTJAR] }, ['hotjar high 1 2']],
    ['takes away what they do not see where it was last seen', [observed(1, [KLAVIYO])], { 1: [] }, []],
    ['has their confidence', [observed(1, [KLAVIYO])], { 1: [seen('klaviyo', ['home'], WEAK)] }, ['klaviyo low 1 1']],
    ['leaves what cannot be read', [observed(1, [KLAVIYO])], {}, ['klaviyo high 1 1']],
    ['leaves out what only an earlier scan shows', [bare(1), bare(2, HOME_ONLY)], { 1: [HOTJAR], 2: [] }, []],
  ])('%s', (_, log, detected, expected) => {
    const { technologies } = under(log, replayed(detected));
    expect(
      technologies.map(({ slug, confidence, first_observed_at, last_confirmed_at }) =>
        [slug, confidence, day(first_observed_at), day(last_confirmed_at)].join(' '),
      ),
    ).toEqual(expected);
  });

  test('a removed technology stays removed until a scan shows it', () => {
    const log = [observed(1, [KLAVIYO]), bare(2), bare(3), bare(4)];
    const { technologies } = under(log, replayed({ 4: [KLAVIYO] }));
    expect(technologies).toMatchObject([{ slug: 'klaviyo', install_state: 'inactive' }]);
  });

  test.each([
    ['that they do not see is none', [], null],
    ['is the one that they see in its place', [seen('magento')], { slug: 'magento', confidence: 'high' }],
    ['is none by a weak hint', [seen('magento', ['home'], WEAK)], null],
  ])('a platform %s', (_, technologies, expected) => {
    const context = { ...CONTEXT, replay: () => ({ pages: PAGES, technologies, withheld: [] }) };
    const { platform } = under([observed(1)], context);
    if (expected === null) expect(platform).toBeNull();
    else expect(platform).toMatchObject(expected);
  });

  test('their technologies are removed after three misses, like all others', () => {
    const log = [bare(1), ...[2, 3, 4].map((one) => V2(one))];
    expect(signalsOf(log, replayed({ 1: [HOTJAR] }))).toEqual(['technology_removed hotjar 2>4']);
  });
});
