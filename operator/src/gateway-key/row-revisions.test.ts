import { expect, test } from '@jest/globals';
import { changedOwners, revisionsByOwner } from './row-revisions.ts';

const rows = (...list: readonly (readonly [string, number, boolean])[]) =>
  revisionsByOwner(list.map(([owner_uid, revision, isOwn]) => ({ owner_uid, revision, isOwn })));
const before = rows(['a', 5, true], ['b', 6, false]);

test.each([
  ['nothing changed', before, []],
  ['a row is gone', rows(['b', 6, false]), ['a']],
  ['all rows are gone', rows(), ['a', 'b']],
  ['a row is older, as in a copy', rows(['a', 4, true], ['b', 6, false]), ['a']],
  ['somebody else changed a row', rows(['a', 7, false], ['b', 6, false]), ['a']],
  ['the operator changed a row', rows(['a', 7, true], ['b', 6, false]), []],
  ['a row is new', rows(['a', 5, true], ['b', 6, false], ['c', 7, true]), []],
  ['somebody else changed a row that is new', rows(['a', 5, true], ['b', 6, false], ['c', 7, false]), ['c']],
])('%s: its owner is reconciled', (_, now, expected) => {
  expect([...changedOwners(before, now)]).toEqual(expected);
});
