import { describe } from '@jest/globals';
import type { DayUsage } from '@vitrine/traces/day-usage';
import { ProcessQuotas } from './process-quotas.ts';
import { QuotaLedger } from './quota-ledger.ts';
import { describeDailyQuotas, NOON, type TestQuotasOptions } from '../testing/daily-quotas-contract.ts';

async function open({ stored = [], maxAccounts, settlementWaitMaxMs }: TestQuotasOptions) {
  const time = { now: NOON };
  const ledger = new QuotaLedger({
    totals: async (day) => stored.filter((usage) => usage.day === day),
    clock: () => time.now,
    steadyClock: () => 0,
    onFailedRead: () => {},
    ...(maxAccounts === undefined ? {} : { maxAccounts }),
  });
  await ledger.read();
  const check = new ProcessQuotas(ledger, settlementWaitMaxMs);
  const quotas = {
    check: check.check.bind(check),
    taken: ledger.taken.bind(ledger),
    settled: ledger.settled.bind(ledger),
  };
  const write = async (usage: readonly DayUsage[]) => ledger.settled(0, usage);
  return { quotas, write, time, [Symbol.asyncDispose]: async () => {} };
}

describe('quotas of one process', () => {
  describeDailyQuotas(open);
});
