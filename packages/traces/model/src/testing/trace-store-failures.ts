import { expect, test } from '@jest/globals';
import { codeOf } from '@vitrine/faults/fault';
import { isKept, type RecordResult } from '../record-writer.ts';
import { DAY_MS } from '../time-buckets.ts';
import type { TraceRecord } from '../trace-record.ts';
import {
  DAY,
  expectKept,
  hex,
  hexIds,
  listed,
  ONE,
  removeAll,
  sum,
  tenant,
  TWO,
  write,
  type ContractStore,
  type OpenContractStore,
} from './contract-store.ts';
import { plainTrace } from './plain-trace.ts';

/** A store is opened for each of some eighty statements: half a second each for a database, and several on a busy machine. */
const ALL_STATEMENTS_TIMEOUT_MS = 900_000;
const TOMORROW = DAY + DAY_MS;
const FIRST = plainTrace(DAY, { scope: ONE, lineage: { thread_id: 't' }, response_status: 503 });
const SECOND = plainTrace(DAY + 1, { scope: ONE, lineage: { thread_id: 't', parent_checkpoint_id: hex(FIRST.id) } });
const RECORDS = [FIRST, SECOND, plainTrace(TOMORROW, { scope: TWO })];
const id = hex(SECOND.id);

/** Every method of the ports that reads. */
const READS: Readonly<Record<string, (store: ContractStore['store']) => Promise<unknown>>> = {
  list: (store) => store.list({ limit: 9, model: SECOND.model, tenant: tenant(ONE), from: DAY }),
  'list by status': (store) => store.list({ limit: 9, status: 503, min_tokens: 1 }),
  get: (store) => store.get(id, tenant(ONE)),
  checkpoints: (store) => store.checkpoints({ thread_id: 't', limit: 9 }),
  ancestors: (store) => store.ancestors({ id, tenant: tenant(ONE), limit: 9 }),
  measure: (store) => store.measure({ groupBy: 'model', bucket: 'hour', tenant: tenant(ONE), from: DAY + 1 }),
  'measure by key': (store) => store.measure({ groupBy: 'key' }),
  quotaTotals: (store) => store.quotaTotals('2026-01-05'),
};

/** Makes every statement of a store fail once, in turn. */
export function testTraceStoreFailures(open: OpenContractStore): void {
  test(
    'whatever statement fails, what is kept is kept whole, and what is not can be written again',
    async () => {
      for (let failAt = 1; ; failAt += 1) {
        await using opened = await open();
        opened.writes.failAt(failAt);
        await writeAndRemove(opened);
        if (!opened.writes.hasFailed) break;
      }
    },
    ALL_STATEMENTS_TIMEOUT_MS,
  );

  test.each(Object.entries(READS))('whatever statement of %s fails, it is a fault', async (_, read) => {
    await using healthy = await openFilled(open);
    const expected = await read(healthy.store);
    for (let failAt = 1; ; failAt += 1) {
      await using opened = await openFilled(open);
      opened.reads.failAt(failAt);
      const first = await read(opened.store).catch(codeOf);
      expect([failAt, first]).toEqual([failAt, opened.reads.hasFailed ? 'trace_store_unavailable' : expected]);
      if (!opened.reads.hasFailed) return expect(failAt).toBeGreaterThan(1);
      expect(await read(opened.store)).toEqual(expected);
    }
  });

  const retention = async () => {
    for (let failAt = 1; ; failAt += 1) {
      await using opened = await openFilled(open);
      opened.writes.failAt(failAt);
      const first = await removeAll(opened, TOMORROW, TOMORROW).catch(codeOf);
      expect([failAt, first]).toEqual([failAt, opened.writes.hasFailed ? 'trace_store_unavailable' : 2]);
      if (!opened.writes.hasFailed) break;
      await removeAll(opened, TOMORROW, TOMORROW);
      expect((await opened.store.summary()).traceCount).toBe(1);
      expect(await opened.store.quotaTotals('2026-01-05')).toEqual([]);
    }
  };
  test(
    'whatever statement of retention fails, it is a fault, and the next call removes what is old',
    retention,
    ALL_STATEMENTS_TIMEOUT_MS,
  );
}

async function openFilled(open: OpenContractStore): Promise<ContractStore> {
  const opened = await open();
  await write(opened, ...RECORDS);
  return opened;
}

/** Writes two batches that share a record, rewrites the lost part of one, then removes the oldest. */
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
