import { expect, test } from '@jest/globals';
import { DayAccounts } from '../quotas/day-accounts.ts';
import { scopeNames } from '../requests/request-counter.ts';
import { Settlements } from './settlements.ts';

test('settlement waits only for exchanges that had ended before, and not forever', async () => {
  const settlements = new Settlements();
  const accounts = new DayAccounts('2026-03-01');
  const [first, second] = ['a', 'b'].map((workspace) => accounts.of(scopeNames('org', workspace, 'gk_1')));
  if (first === undefined || second === undefined) throw new Error('no accounts');
  settlements.taken(first);
  settlements.taken(second);
  const waiting = settlements.settlement(first, 60_000);
  const inVain = settlements.settlement(second, 5);
  settlements.settled(1);
  expect(await waiting).toBe(true);
  expect(await settlements.settlement(first, 0)).toBe(true);
  expect(await inVain).toBe(false);
});
