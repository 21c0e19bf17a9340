import { expect, test } from '@jest/globals';
import { isKept, type RecordResult } from '../record-writer.ts';
import { DAY_MS } from '../time-buckets.ts';
import type { TraceRecord } from '../trace-record.ts';
import {
  DAY,
  expectKept,
  hexIds,
  listed,
  ONE,
  removeAll,
  sum,
  TWO,
  write,
  type ContractStore,
  type OpenContractStore,
} from './contract-store.ts';
import { plainTrace } from './plain-trace.ts';

/** Lets every statement of a store fail in turn, once. */
export function testTraceStoreFailures(open: OpenContractStore): void {
  test('whatever statement fails, what is kept is kept whole, and what is not can be written again', async () => {
    for (let failAt = 1; ; failAt += 1) {
      await using opened = await open();
      opened.writes.failAt(failAt);
      await writeAndRemove(opened);
      if (!opened.writes.hasFailed) break;
    }
  });
}

/** Writes two batches that share a record, and one of them again as far as it was lost; then removes the oldest. */
async function writeAndRemove(opened: ContractStore): Promise<void> {
  const [old, ...young] = [DAY, DAY + DAY_MS, DAY + DAY_MS, DAY + 2 * DAY_MS].map((at, number) =>
    plainTrace(at, { scope: number % 2 === 0 ? ONE : TWO, lineage: { thread_id: `t${number}` } }),
  ) as [TraceRecord, ...TraceRecord[]];
  const [first, ...rest] = young as [TraceRecord, ...TraceRecord[]];
  const results = new Map<TraceRecord, RecordResult | undefined>();
  const writeAll = async (records: readonly TraceRecord[]) => {
    const made = await write(opened, ...records).catch((): RecordResult[] => []);
    for (const [at, record] of records.entries()) if (!isKept(results.get(record))) results.set(record, made[at]);
  };
  await writeAll([old, first]);
  await writeAll([first, ...rest]);
  const keptNow = [old, ...young].filter((record) => isKept(results.get(record)));
  await expectKept(opened, keptNow);
  const lost = [old, ...young].filter((record) => !keptNow.includes(record));
  if (lost.length > 0) await writeAll(lost);
  await expectKept(opened, [old, ...young]);
  await removeAll(opened, DAY + DAY_MS).catch(() => removeAll(opened, DAY + DAY_MS));
  expect(await listed(opened)).toEqual(hexIds(young).toReversed());
  expect((await opened.store.summary()).traceCount).toBe(young.length);
  expect(sum(await opened.store.measure({}))).toBe(young.length + 1);
}
