import { expect, test } from '@jest/globals';
import { isTransition, updateConditions, type Condition } from './conditions.ts';

const wanted = { type: 'Ready', status: 'True', reason: 'Registered', message: 'is accepted' } as const;
const before: Condition = { ...wanted, observedGeneration: 1, lastTransitionTime: '2026-01-01T00:00:00Z' };
const NOW = '2026-02-02T00:00:00Z';

test.each([
  ['a new condition', [], wanted, NOW, true],
  ['the same again', [before], wanted, before.lastTransitionTime, false],
  ['another message', [before], { ...wanted, message: 'is' }, before.lastTransitionTime, false],
  ['another reason', [before], { ...wanted, reason: 'Rotated' }, before.lastTransitionTime, true],
  ['another status', [before], { ...wanted, status: 'False' as const }, NOW, true],
])('%s', (_, last, condition, lastTransitionTime, isNew) => {
  expect(updateConditions(last, [condition], 2, NOW)).toEqual([{ ...condition, observedGeneration: 2, lastTransitionTime }]);
  expect(isTransition(last, condition)).toBe(isNew);
});
