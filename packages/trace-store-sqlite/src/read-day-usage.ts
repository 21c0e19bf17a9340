import type { DatabaseSync } from 'node:sqlite';
import type { DayUsage } from '@vitrine/traces/day-usage';
import { DAY_MS } from '@vitrine/traces/time-buckets';
import { UsdSum } from '@vitrine/traces/usd';
import type { JournalReader } from './journal-reader.ts';
import type { ReadDictionary } from './read-dictionary.ts';
import { readJournal } from './trace-journal.ts';
import { dayUsageOf, UsageTally, type ScopeUsage } from '@vitrine/traces/usage-tally';

/** What every key used on a day (`YYYY-MM-DD`), one entry a key. To be called in a transaction. */
export function readDayUsage(
  database: DatabaseSync,
  dictionary: ReadDictionary,
  journal: JournalReader,
  day: string,
): DayUsage[] {
  const number = Math.floor(Date.parse(day) / DAY_MS);
  const byKey = new Map<string, ScopeUsage<number>>();
  const add = (scope: number, requests: number, tokens: number): UsdSum => {
    const { org_id, workspace_id, gateway_key_id } = dictionary.scope(scope);
    const key = JSON.stringify([org_id, workspace_id, gateway_key_id]);
    const usage = byKey.get(key) ?? { day: number, scope, requests: 0, total_tokens: 0, cost: new UsdSum() };
    byKey.set(key, usage);
    usage.requests += requests;
    usage.total_tokens += tokens;
    return usage.cost;
  };
  for (const row of database.prepare('SELECT * FROM day_usage WHERE day = ?').iterate(number))
    add(Number(row['scope']), Number(row['requests']), Number(row['total_tokens'])).add(Number(row['cost_usd']));
  const unmerged = new UsageTally<number>();
  for (const { scope, createdAt, totalTokens, costUsd } of readJournal(journal.between()))
    if (Math.floor(createdAt / DAY_MS) === number) unmerged.add(scope, createdAt, totalTokens, costUsd);
  for (const { scope, requests, total_tokens, cost } of unmerged.values())
    add(scope, requests, total_tokens).addParts(cost.thousands, cost.pico);
  return Array.from(byKey.values(), (usage) => dayUsageOf(usage, dictionary.scope(usage.scope)));
}
