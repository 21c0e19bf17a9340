import { expect, test } from '@jest/globals';
import { propertyRuns } from '@vitrine/testkit/property-runs';
import fc from 'fast-check';
import { worlds, type World } from '../testing/scanned-worlds.ts';
import { momentOf, type LoggedObservation } from './derivation-context.ts';
import { compareMoments } from './derivation-state.ts';
import { deriveLog } from '../testing/derive-log.ts';
import { deriveNext, type Derived } from './derive.ts';
import { reinterpretWithRules } from './reinterpret-with-rules.ts';

const RUNS = { numRuns: propertyRuns(400) };
const logOf = ({ scans }: World) => scans.map(({ observation }) => observation);

/** The state after entries have arrived one by one. A late entry causes a new derivation of the log. */
function arrive(arrivals: readonly LoggedObservation[], { context }: World): Derived | undefined {
  const log = new Map<string, LoggedObservation>();
  let known: Derived | undefined;
  for (const observation of arrivals) {
    if (log.has(observation.id)) continue;
    log.set(observation.id, observation);
    const isLate = known !== undefined && compareMoments(momentOf(observation), known.state.last) < 0;
    // Through JSON, because the state is stored as JSON.
    const before = known === undefined ? undefined : (JSON.parse(JSON.stringify(known.state)) as Derived['state']);
    const next = isLate ? deriveLog([...log.values()], context) : deriveNext(before, observation, context);
    known = next && { state: next.state, signals: isLate ? next.signals : [...(known?.signals ?? []), ...next.signals] };
  }
  return known;
}

test('any order, repetition and lateness of a log gives the states and signals of the ordered log', () => {
  const deliveries = worlds(false).chain((world) => {
    const log = logOf(world);
    const twice = fc.shuffledSubarray([...log, ...log], { minLength: log.length * 2 });
    return fc.tuple(fc.constant(world), twice);
  });
  fc.assert(
    fc.property(deliveries, ([world, delivery]) => {
      expect(arrive(delivery, world)).toEqual(deriveLog(logOf(world), world.context));
    }),
    RUNS,
  );
});

test('lost pages or channels and changed rules give no signal of a constant technology', () => {
  fc.assert(
    fc.property(worlds(true), (world) => {
      const { signals = [] } = deriveLog(logOf(world), world.context) ?? {};
      expect(signals.filter(({ technology, type }) => technology !== null || type === 'platform_migrated')).toEqual([]);
    }),
    RUNS,
  );
});

test('an addition needs an earlier scan without the technology, a removal three since it was last seen', () => {
  fc.assert(
    fc.property(worlds(false), (world) => {
      const open = world.scans.filter(({ observation }) => observation.facts.condition === 'open');
      for (const { type, technology, confirmed_at } of deriveLog(logOf(world), world.context)?.signals ?? []) {
        if (technology === null) continue;
        const until = open.filter(({ observation }) => observation.completed_at <= confirmed_at);
        const without = until.filter(({ truth }) => truth[technology] === undefined);
        if (type === 'technology_added') expect(without.length).toBeGreaterThan(0);
        else expect(without.length).toBeGreaterThanOrEqual(3);
      }
    }),
    RUNS,
  );
});

/** A log whose kept evidence is replayed with other rules between its entries; undefined without replays. */
function deriveReplayed(world: World, versions: readonly (string | undefined)[]): Derived | undefined {
  let known: Derived | undefined;
  for (const [at, observation] of logOf(world).entries()) {
    const next = deriveNext(known?.state, observation, world.context);
    const version = versions[at];
    const state = version === undefined ? next.state : reinterpretWithRules(next.state, version, world.context);
    known = { state, signals: [...(known?.signals ?? []), ...next.signals] };
  }
  return known;
}
const replayedWorlds = (isConstant: boolean) =>
  fc.tuple(worlds(isConstant), fc.array(fc.constantFrom(undefined, 'v1', 'v2', 'v3'), { minLength: 20, maxLength: 20 }));

test('replays with other rules, at any time, invent no addition, removal or migration', () => {
  fc.assert(
    fc.property(replayedWorlds(true), ([world, versions]) => {
      const { signals = [] } = deriveReplayed(world, versions) ?? {};
      expect(signals.filter(({ technology, type }) => technology !== null || type === 'platform_migrated')).toEqual([]);
    }),
    RUNS,
  );
  fc.assert(
    fc.property(replayedWorlds(false), ([world, versions]) => {
      const open = world.scans.filter(({ observation }) => observation.facts.condition === 'open');
      for (const { type, technology, confirmed_at } of deriveReplayed(world, versions)?.signals ?? []) {
        if (type !== 'technology_added' || technology === null) continue;
        const until = open.filter(({ observation }) => observation.completed_at <= confirmed_at);
        expect(until.some(({ truth }) => truth[technology] === undefined)).toBe(true);
      }
    }),
    RUNS,
  );
});

test('a replay with the rules of the next scan gives the same state as the scan', () => {
  fc.assert(
    fc.property(worlds(false), (world) => {
      const log = logOf(world);
      const early = log.map((_, at) => (log[at + 1]?.facts.condition === 'open' ? log[at + 1]?.registry_checksum : undefined));
      expect(deriveReplayed(world, early)).toEqual(deriveLog(log, world.context));
    }),
    RUNS,
  );
});

test('ids are unique, and the state is bounded', () => {
  fc.assert(
    fc.property(worlds(false), (world) => {
      const { signals = [], state } = deriveLog(logOf(world), world.context) ?? {};
      expect(new Set(signals.map(({ id }) => id)).size).toBe(signals.length);
      expect(state?.coverages.length).toBeLessThanOrEqual(6);
    }),
    RUNS,
  );
});

test('these worlds have additions, removals, holds and changes of rules', () => {
  const types = fc
    .sample(worlds(false), { numRuns: 300, seed: 1 })
    .flatMap((world) => deriveLog(logOf(world), world.context)?.signals ?? []);
  const count = (type: string) => types.filter((signal) => signal.type === type).length;
  expect(count('technology_added')).toBeGreaterThan(30);
  expect(count('technology_removed')).toBeGreaterThan(30);
});
