import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { orderCheckpoints, type OrderedCheckpoint } from './checkpoint-order.ts';

/** Such as `b<a#2@5`: checkpoint b, child of a, number 2, made in second 5. */
function checkpoint(text: string): OrderedCheckpoint {
  const [, id = '', parent, seq, second] = /^(\w+)(?:<(\w+))?(?:#(\d+))?(?:@(\d+))?$/.exec(text) ?? [];
  return {
    id,
    created_at: new Date(Number(second ?? 0) * 1_000).toISOString(),
    lineage: { parent_checkpoint_id: parent, checkpoint_seq: seq === undefined ? undefined : Number(seq) },
  };
}

const idsOf = (checkpoints: readonly OrderedCheckpoint[]) => checkpoints.map(({ id }) => id).join(' ');

describe('the order of checkpoints', () => {
  test.each([
    ['nothing is claimed: by created_at, then id', 'c@2 b@1 a@2', 'b a c'],
    ['numbers, whatever the clock says', 'a#3@1 b#2@2 c#1@3', 'c b a'],
    ['equal numbers: by created_at, then id', 'd#2@4 c#2@3 b#2@3 a#1@9', 'a b c d'],
    ['a parent before its children, whatever the clock says', 'b<a@1 a@2', 'a b'],
    ['a missing number is the parent plus 1', 'a#1@9 b<a@1 c#3@0', 'a b c'],
    ['a missing number is the child minus 1', 'a@9 b<a#2@1 c#0@5 d#3@0', 'c a b d'],
    ['of several children the lowest counts', 'a@9 b<a#5@1 c<a#2@2 d#1@0 e#3@0', 'd a c e b'],
    ["a sibling's number comes through the parent", 'a@9 b<a#6@1 c<a@0 d#5@8 e#5@99', 'd a e c b'],
    ['its own number counts more than the parent plus 1', 'a#1@1 b<a#7@2 c#3@3', 'a c b'],
    ['parents win over numbers', 'a#5@1 b<a#1@2 c#3@3', 'c a b'],
    ['one without a number stands where its time puts it', 'a#1@1 b@2 c#2@3', 'a b c'],
    ['a foreign parent is no parent', 'b<x@2 a<y@1', 'a b'],
    ['its own parent is no parent', 'a<a@1 b@2', 'a b'],
    ['a cycle is entered at its oldest', 'a<c@3 b<a@1 c<b@2', 'b c a'],
    ['what hangs below a cycle comes after it', 'x<a@0 a<b@2 b<a@1', 'b a x'],
    ['nothing', '', ''],
  ])('%s', (_name, given, ordered) => {
    expect(idsOf(orderCheckpoints(given.split(' ').filter(Boolean).map(checkpoint)))).toBe(ordered);
  });
});

const IDS = 'abcdefghij'.split('');
/** Any claims at all: cycles, foreign parents, contradictory numbers. */
const anyCheckpoints = fc.uniqueArray(fc.constantFrom(...IDS), { maxLength: IDS.length }).chain((ids) =>
  fc.tuple(
    ...ids.map((id) =>
      fc.record({
        id: fc.constant(id),
        created_at: fc.integer({ min: 0, max: 5 }).map((second) => new Date(second * 1_000).toISOString()),
        lineage: fc.record({
          parent_checkpoint_id: fc.option(fc.constantFrom(...IDS, 'foreign'), { nil: undefined }),
          checkpoint_seq: fc.option(fc.nat(5), { nil: undefined }),
        }),
      }),
    ),
  ),
);

describe('whatever is claimed', () => {
  test('every checkpoint is included once, and the order does not depend on the input order', () => {
    fc.assert(
      fc.property(
        anyCheckpoints,
        fc.array(fc.nat(), { minLength: IDS.length, maxLength: IDS.length }),
        (checkpoints, numbers) => {
          const ordered = orderCheckpoints(checkpoints);
          expect(ordered.toSorted(byId)).toEqual([...checkpoints].toSorted(byId));
          const shuffled = checkpoints
            .map((one, i) => ({ one, at: numbers[i] ?? 0 }))
            .toSorted((a, b) => a.at - b.at)
            .map(({ one }) => one);
          expect(idsOf(orderCheckpoints(shuffled))).toBe(idsOf(ordered));
        },
      ),
    );
  });

  test('a parent comes before its children, unless it descends from them', () => {
    fc.assert(
      fc.property(anyCheckpoints, (checkpoints) => {
        const parentOf = new Map(checkpoints.map(({ id, lineage }) => [id, lineage.parent_checkpoint_id]));
        const descendsFrom = (id: string, ancestor: string) => {
          const seen = new Set<string>();
          for (let at = parentOf.get(id); at !== undefined && !seen.has(at); at = parentOf.get(at)) {
            if (at === ancestor) return true;
            seen.add(at);
          }
          return false;
        };
        const places = new Map(orderCheckpoints(checkpoints).map(({ id }, place) => [id, place]));
        for (const [id, parent] of parentOf) {
          if (parent === undefined || !places.has(parent) || descendsFrom(parent, id)) continue;
          expect(places.get(parent)).toBeLessThan(places.get(id) ?? -1);
        }
      }),
    );
  });

  test('without parents, numbers never decrease', () => {
    fc.assert(
      fc.property(anyCheckpoints, (checkpoints) => {
        const orphans = checkpoints.map((one) => ({ ...one, lineage: { checkpoint_seq: one.lineage.checkpoint_seq } }));
        const seqs = orderCheckpoints(orphans).flatMap(({ lineage }) => lineage.checkpoint_seq ?? []);
        expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
      }),
    );
  });
});

test('a tree with correct numbers is ordered by depth, with any missing numbers and any clocks', () => {
  const tree = fc.tuple(
    fc.array(fc.record({ parent: fc.nat(), second: fc.nat(3), isNumbered: fc.boolean() }), { minLength: 1, maxLength: 15 }),
    fc.nat(14),
  );
  fc.assert(
    fc.property(tree, ([nodes, first]) => {
      const depths: number[] = [];
      const checkpoints = nodes.map(({ parent, second, isNumbered }, i): OrderedCheckpoint => {
        const above = i === 0 ? -1 : parent % i;
        const depth = (depths[i] = i === 0 ? 3 : (depths[above] ?? 0) + 1);
        return {
          id: String(i).padStart(2, '0'),
          created_at: new Date(second * 1_000).toISOString(),
          lineage: {
            parent_checkpoint_id: above === -1 ? undefined : String(above).padStart(2, '0'),
            // One number determines all of them.
            checkpoint_seq: isNumbered || i === first % nodes.length ? depth : undefined,
          },
        };
      });
      const depthOf = ({ id }: OrderedCheckpoint) => depths[Number(id)] ?? 0;
      const expected = checkpoints.toSorted(
        (a, b) => depthOf(a) - depthOf(b) || Date.parse(a.created_at) - Date.parse(b.created_at) || byId(a, b),
      );
      expect(idsOf(orderCheckpoints(checkpoints.toReversed()))).toBe(idsOf(expected));
    }),
  );
});

function byId(a: OrderedCheckpoint, b: OrderedCheckpoint): number {
  return a.id < b.id ? -1 : 1;
}
