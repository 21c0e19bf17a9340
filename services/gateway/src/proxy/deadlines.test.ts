import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Deadlines, type Deadlined } from './deadlines.ts';

const one = (): Deadlined => ({ deadlineAt: 0, slot: 0, onDeadline: () => {} });

test('watches exactly those that were not forgotten, in whatever order they go', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(), { maxLength: 60 }), (choices) => {
      using deadlines = new Deadlines(() => 0, 1_000_000);
      const watched: Deadlined[] = [];
      for (const choice of choices) {
        if (choice % 3 > 0 || watched.length === 0) {
          const added = one();
          watched.push(added);
          deadlines.watch(added);
        } else {
          const [gone] = watched.splice(choice % watched.length, 1);
          if (gone !== undefined) deadlines.forget(gone);
        }
        expect(new Set(deadlines.watched())).toEqual(new Set(watched));
        expect(deadlines.size).toBe(watched.length);
        for (const each of watched) expect(deadlines.watched()[each.slot]).toBe(each);
      }
    }),
  );
});

test('empty resolves when the last is forgotten', async () => {
  using deadlines = new Deadlines(() => 0, 1_000_000);
  const [first, last] = [one(), one()];
  for (const each of [first, last]) deadlines.watch(each);
  let isEmpty = false;
  const empty = deadlines.empty().then(() => (isEmpty = true));
  deadlines.forget(first);
  await Promise.resolve();
  expect(isEmpty).toBe(false);
  deadlines.forget(last);
  await empty;
});
