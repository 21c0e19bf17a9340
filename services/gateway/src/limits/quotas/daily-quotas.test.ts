import { describe } from '@jest/globals';
import type { DayUsage } from '@vitrine/traces/day-usage';
import { QuotaLedger } from './quota-ledger.ts';
import { describeDailyQuotas, NOON, type TestQuotasOptions } from '../testing/daily-quotas-contract.ts';

async function open({ stored = [], maxAccounts, settlementWaitMaxMs }: TestQuotasOptions) {
  const time = { now: NOON };
  const quotas = new QuotaLedger({
    totals: async (day) => stored.filter((usage) => usage.day === day),
    clock: () => time.now,
    steadyClock: () => 0,
    onFailedRead: () => {},
    ...(maxAccounts === undefined ? {} : { maxAccounts }),
    ...(settlementWaitMaxMs === undefined ? {} : { settlementWaitMaxMs }),
  });
  await quotas.read();
  const write = async (usage: readonly DayUsage[]) => quotas.settled(0, usage);
  return { quotas, write, time, [Symbol.asyncDispose]: async () => {} };
}

describe('quotas of one process', () => {
  describeDailyQuotas(open);
});
