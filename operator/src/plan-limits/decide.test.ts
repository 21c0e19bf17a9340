import { describe, expect, test } from '@jest/globals';
import { planDocument, planDocumentText } from '@vitrine/plans/plan-document';
import { planLimits, type PlanLimits } from '@vitrine/plans/plan-limits';
import { propertyRuns } from '@vitrine/testkit/property-runs';
import fc from 'fast-check';
import { decide, type Decision, type Observed, type Step } from './decide.ts';
import { FINALIZER, PAUSED, type PlanLimitsObject } from './plan-limits-resource.ts';
import type { ConfigMapState } from './plans-config-map.ts';

const limitsOf = (rpm: number): PlanLimits =>
  planLimits.parse({ rpm, concurrency: 1, freshnessDays: 1, historyDays: 1, enrichBatchMax: 1, liveRefreshesPerPeriod: 0 });
const NO_USE = { keys: 0, workspaces: 0 };
const EMPTY: Observed = {
  object: undefined,
  rows: { generation: 0, plans: {}, workspaces: [] },
  use: NO_USE,
  configMap: { kind: 'absent' },
};

const resource = (metadata: object = {}, spec: unknown = limitsOf(1)): PlanLimitsObject => ({
  metadata: { name: 'pro', ...metadata },
  spec,
});
const kinds = ({ steps }: Decision) => steps.map(({ kind }) => kind);
const deleted = { deletionTimestamp: new Date(0), finalizers: [FINALIZER] };

describe('decisions for a PlanLimits resource', () => {
  test('a new one: finalizer, row and ConfigMap, in this order', () => {
    const decision = decide({ ...EMPTY, object: resource() });
    expect(kinds(decision)).toEqual(['add-finalizer', 'write-row', 'write-config-map']);
    expect(decision.ready).toMatchObject({ status: 'True', reason: 'Applied' });
  });

  test.each<[string, Partial<Observed>, string, RegExp]>([
    [
      'a name that is no plan',
      { object: resource({ name: 'gold' }) },
      'InvalidSpec',
      /metadata\.name: must be one of free, pro, growth, partner/,
    ],
    [
      'a limit that is not allowed',
      { object: resource({}, { ...limitsOf(1), enrichBatchMax: 101 }) },
      'InvalidSpec',
      /spec\.enrichBatchMax/,
    ],
    ['no spec', { object: { metadata: { name: 'pro' } } }, 'InvalidSpec', /spec/],
    [
      'a ConfigMap of somebody else',
      { object: resource(), configMap: { kind: 'foreign' } },
      'ConfigMapConflict',
      /not made by the operator/,
    ],
    [
      'the row of another plan that is not valid',
      { object: resource(), rows: { generation: 3, plans: { free: { rpm: 0 } }, workspaces: [] } },
      'InvalidRow',
      /plans\.free\.rpm/,
    ],
    [
      'a pause',
      { object: resource({ annotations: { [PAUSED]: 'true' } }) },
      'Paused',
      /remove the annotation vitrine\.dev\/paused/,
    ],
  ])('%s: nothing is written, and the condition has the required change', (_, observed, reason, message) => {
    const decision = decide({ ...EMPTY, ...observed });
    expect(decision.steps).toEqual([]);
    expect(decision.ready).toMatchObject({ status: 'False', reason, message: expect.stringMatching(message) });
    expect(decision.isStalled ?? false).toBe(reason !== 'Paused');
  });

  test.each([
    [{ keys: 2, workspaces: 0 }, /2 active gateway keys and 0 workspaces/],
    [{ keys: 0, workspaces: 1 }, /0 active gateway keys and 1 workspaces/],
  ])('a plan deleted while in use %j stays and is checked again', (use, message) => {
    const decision = decide({ ...EMPTY, object: resource(deleted), use });
    expect(decision.steps).toEqual([]);
    expect(decision.ready).toMatchObject({ status: 'False', reason: 'InUse', message: expect.stringMatching(message) });
    expect(decision.requeueAfterMs).toBe(10_000);
  });

  test.each([
    ['behind it', 4, 1],
    ['at its generation, with other limits', 9, 2],
  ])('rows of a restored database that are %s: their generation is raised above that of the ConfigMap', (_, generation, rpm) => {
    const text = planDocumentText(planDocument(9, { pro: limitsOf(1) }));
    const rows = { generation, plans: { pro: limitsOf(rpm) }, workspaces: [] };
    const object = resource({ finalizers: [FINALIZER] }, limitsOf(rpm));
    const decision = decide({ ...EMPTY, object, rows, configMap: { kind: 'own', text, generation: 9 } });
    expect(decision.steps).toEqual([{ kind: 'raise-generation', above: 9 }, { kind: 'write-config-map' }]);
  });
});

function withMetadata(object: PlanLimitsObject | undefined, change: object): PlanLimitsObject {
  return { ...object, metadata: Object.assign({}, object?.metadata, change) };
}

/** Resource, rows and ConfigMap, and what steps do to them. */
class World {
  object: PlanLimitsObject | undefined = resource();
  generation = 0;
  plans: Record<string, PlanLimits> = { free: limitsOf(7) };
  keys = 0;
  text: string | undefined;
  /** By generation, the plans that services have applied from the ConfigMap. */
  applied = new Map<number, string>();

  observe(): Observed {
    return {
      object: this.object,
      rows: { generation: this.generation, plans: { ...this.plans }, workspaces: [] },
      use: { keys: this.keys, workspaces: 0 },
      configMap: this.#configMap(),
    };
  }

  #configMap(): ConfigMapState {
    if (this.text === undefined) return { kind: 'absent' };
    const generation = /"generation": (\d+)/.exec(this.text)?.[1] ?? 0;
    return { kind: 'own', text: this.text, generation: Number(generation) };
  }

  get rowsText(): string {
    return planDocumentText(planDocument(this.generation, this.plans));
  }

  apply(step: Step): void {
    const { finalizers = [] } = this.object?.metadata ?? {};
    if (step.kind === 'add-finalizer') this.object = withMetadata(this.object, { finalizers: [...finalizers, FINALIZER] });
    if (step.kind === 'remove-finalizer') this.object = undefined;
    if (step.kind === 'raise-generation') this.generation = Math.max(this.generation, step.above + 1);
    if (step.kind === 'write-row') this.change(() => (this.plans['pro'] = step.limits));
    if (step.kind === 'delete-row') this.change(() => delete this.plans['pro']);
    if (step.kind === 'write-config-map') {
      this.text = this.rowsText;
      expect(this.generation).toBeGreaterThanOrEqual(Math.max(0, ...this.applied.keys()));
      expect(this.applied.get(this.generation) ?? this.text).toBe(this.text);
      this.applied.set(this.generation, this.text);
    }
  }

  change(work: () => void): void {
    work();
    this.generation += 1;
  }
}

const interference = fc.constantFrom(
  'edit spec',
  'edit row',
  'delete row',
  'edit ConfigMap',
  'delete ConfigMap',
  'restore database',
  'key gets plan',
  'key loses plan',
  'delete',
  'other plan',
);
const turn = fc.record({ what: interference, crashAfter: fc.nat(4), number: fc.integer({ min: 1, max: 50 }) });

function interfere(world: World, { what, number }: { what: string; number: number }): void {
  const { object } = world;
  if (what.endsWith('ConfigMap')) world.applied.clear();
  if (what === 'edit spec' && object !== undefined) world.object = { ...object, spec: limitsOf(number) };
  if (what === 'edit row' && world.plans['pro'] !== undefined) world.change(() => (world.plans['pro'] = limitsOf(number + 100)));
  if (what === 'delete row' && world.plans['pro'] !== undefined) world.change(() => delete world.plans['pro']);
  if (what === 'edit ConfigMap') world.text = `{"generation": ${number}}`;
  if (what === 'delete ConfigMap') world.text = undefined;
  if (what === 'restore database')
    [world.generation, world.plans] = [Math.floor(world.generation / 2), { free: limitsOf(number) }];
  if (what === 'key gets plan' && object?.metadata?.deletionTimestamp === undefined) world.keys = 1;
  if (what === 'key loses plan') world.keys = 0;
  if (what === 'other plan') world.change(() => (world.plans['growth'] = limitsOf(number)));
  if (what === 'delete' && object !== undefined)
    world.object = object.metadata?.finalizers?.includes(FINALIZER) === true ? withMetadata(object, deleted) : undefined;
}

test('after any changes between passes and any crash, later passes converge, and a plan in use is never deleted', () => {
  fc.assert(
    fc.property(fc.array(turn, { maxLength: 12 }), (turns) => {
      const world = new World();
      const pass = (most: number) => {
        for (const step of decide(world.observe()).steps.slice(0, most)) {
          const hadFinalizer = world.object?.metadata?.finalizers?.includes(FINALIZER) === true;
          if (step.kind === 'write-row') expect(hadFinalizer).toBe(true);
          if (step.kind === 'delete-row' || step.kind === 'remove-finalizer') expect(world.keys).toBe(0);
          world.apply(step);
        }
      };
      for (const each of turns) {
        interfere(world, each);
        pass(each.crashAfter);
      }
      const before = world.object;
      pass(Infinity);
      const { object } = world;
      if (object?.metadata?.deletionTimestamp !== undefined) {
        expect(world.keys).toBe(1);
        world.keys = 0;
        pass(Infinity);
        expect(world.object).toBeUndefined();
      }
      if (object !== undefined && object.metadata?.deletionTimestamp === undefined)
        expect(world.plans['pro']).toEqual(object.spec);
      if (before?.metadata?.deletionTimestamp !== undefined) expect(world.plans['pro']).toBeUndefined();
      if (before !== undefined) expect(world.text).toBe(world.rowsText);
      // A pass in which nothing has changed does nothing.
      expect(decide(world.observe()).steps).toEqual([]);
    }),
    { numRuns: propertyRuns(500) },
  );
});
