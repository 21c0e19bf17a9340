import { expect, test } from '@jest/globals';
import { BodyBudget } from './body-budget.ts';

test('the young generation is collected every 8 MiB of forwarded bodies', () => {
  let collections = 0;
  const budget = new BodyBudget(0, () => (collections += 1));
  for (let i = 0; i < 127; i += 1) budget.countForwarded(65_536);
  expect(collections).toBe(0);
  for (let i = 0; i < 129; i += 1) budget.countForwarded(65_536);
  expect(collections).toBe(2);
});
