import { expect, test } from '@jest/globals';
import type { QuotaTotals } from '../day-usage.ts';
import type { ExchangeScope, Tenant } from '../exchange-scope.ts';
import { isKept, type RecordResult, type RecordWriter } from '../record-writer.ts';
import type { Retention } from '../retention.ts';
import { DAY_MS, type TraceMeasures } from '../trace-analytics.ts';
import type { Checkpoint } from '../trace.ts';
import type { TraceRecord } from '../trace-record.ts';
import { readCursor, type TraceQuery, type TraceStore } from '../trace-store.ts';
import { plainTrace } from './plain-trace.ts';

/** A store without traces, as its test opens it. */
export interface ContractStore extends AsyncDisposable {
  readonly writer: RecordWriter;
  readonly store: TraceStore & TraceMeasures & QuotaTotals & Retention;
  /** Whether the statement has come that was to fail. */
  readonly hasFailed: boolean;
}

/** Opens a store; its `failAt`th statement that writes, counted from 1, fails once and has no effect. */
export type OpenContractStore = (failAt?: number) => Promise<ContractStore>;

const DAY = Date.UTC(2026, 0, 5);
const scopeOf = (workspace_id: string, gateway_key_id: string): ExchangeScope => {
  return { org_id: 'o', workspace_id, gateway_key_id, role: 'member' };
};
const [ONE, TWO] = [scopeOf('w1', 'gk_1'), scopeOf('w2', 'gk_2')];
const tenant = ({ org_id, workspace_id }: ExchangeScope): Tenant => ({ org_id, workspace_id });
const hex = (id: Uint8Array) => Buffer.from(id).toString('hex');
const checkpointIds = (checkpoints: readonly Checkpoint[]) => checkpoints.map(({ id }) => id);
const hexIds = (records: readonly TraceRecord[]) => records.map(({ id }) => hex(id));
const write = ({ writer }: ContractStore, ...records: TraceRecord[]) =>
  Promise.resolve(writer.write({ count: records.length, records: () => records }));

async function listed({ store }: ContractStore, query: Omit<TraceQuery, 'limit'> = {}): Promise<string[]> {
  const ids: string[] = [];
  let after: Uint8Array | undefined;
  do {
    const page = await store.list({ ...query, limit: 2, after });
    ids.push(...page.items.map(({ id }) => id));
    after = page.next_cursor === undefined ? undefined : readCursor(page.next_cursor);
  } while (after !== undefined);
  return ids;
}

/** The tests that every store of traces passes. */
export function testTraceStore(open: OpenContractStore): void {
  testWriting(open);
  testReading(open);
  testRemoval(open);
  test('whatever statement fails, what is kept is kept whole, and what is not can be written again', async () => {
    for (let failAt = 1; ; failAt += 1) {
      await using opened = await open(failAt);
      await writeAndRemove(opened);
      if (!opened.hasFailed) break;
    }
  });
}

function testWriting(open: OpenContractStore): void {
  test('a record is read as it was written', async () => {
    await using opened = await open();
    const lineage = { trace_group_id: 'g', thread_id: 't', run_id: 'r', checkpoint_seq: 3 };
    const record = plainTrace(DAY, {
      scope: ONE,
      api_key_hash: new Uint8Array(32).fill(0xab),
      lineage,
      time_to_first_token_us: 1_500,
      request_headers: 'A\n1\nB\n2\na\n3',
      request_body: 'Grüße',
      response_body: '',
      metadata: '{"streaming":true}',
    });
    expect(await write(opened, record)).toEqual(['written']);
    const { model, estimated_cost_usd, provider, request_path } = record;
    expect(await opened.store.get(hex(record.id))).toMatchObject({
      id: hex(record.id),
      model,
      provider,
      request_path,
      estimated_cost_usd,
      time_to_first_token_ms: 2,
      api_key_hash: 'ab'.repeat(32),
      created_at: new Date(DAY).toISOString(),
      lineage: { group_id: 'g', thread_id: 't', run_id: 'r', checkpoint_seq: 3, checkpoint_id: hex(record.id) },
      request_headers: { a: ['1', '3'], b: ['2'] },
      request_body: 'Grüße',
      response_body: '',
      metadata: { streaming: true, org_id: 'o', workspace_id: 'w1', gateway_key_id: 'gk_1', role: 'member' },
    });
  });

  test('a record that comes again is there once, and counts once', async () => {
    await using opened = await open();
    const [one, two] = [plainTrace(DAY, { scope: ONE }), plainTrace(DAY + 1, { scope: ONE })];
    await write(opened, one);
    expect(await write(opened, one, two)).toEqual(['already_there', 'written']);
    await expectKept(opened, [one, two]);
  });

  test('one bad record costs one', async () => {
    await using opened = await open();
    const good = [plainTrace(DAY), plainTrace(DAY + 2)] as const;
    const bad = plainTrace(DAY + 1, { model: null as never });
    const failed = { operation: 'write_batch_fallback', error_class: 'constraint' };
    expect(await write(opened, good[0], bad, good[1])).toMatchObject(['written', failed, 'written']);
    await expectKept(opened, good);
  });
}

function testReading(open: OpenContractStore): void {
  test('lists are the newest first, page by page, of what the query selects', async () => {
    await using opened = await open();
    const records = Array.from({ length: 5 }, (_, at) =>
      plainTrace(DAY + at, { scope: at % 2 === 0 ? ONE : TWO, model: `m${at}`, response_status: 200 + at, total_tokens: at }),
    );
    await write(opened, ...records);
    const newest = hexIds(records).toReversed();
    expect(await listed(opened)).toEqual(newest);
    expect(await listed(opened, { tenant: tenant(TWO) })).toEqual([newest[1], newest[3]]);
    expect(await listed(opened, { min_tokens: 1, max_tokens: 2 })).toEqual([newest[2], newest[3]]);
    expect(await listed(opened, { from: DAY - 9, to: DAY - 8 })).toEqual([newest[2], newest[3]]);
    expect(await listed(opened, { model: 'm3', status: 203 })).toEqual([newest[1]]);
  });

  test("another tenant's traces are not there", async () => {
    await using opened = await open();
    const [mine, theirs] = [plainTrace(DAY, { scope: ONE }), plainTrace(DAY, { scope: TWO })];
    await write(opened, mine, theirs);
    const { store } = opened;
    expect(await store.get(hex(theirs.id), tenant(ONE))).toBeUndefined();
    expect(await store.ancestors({ id: hex(theirs.id), tenant: tenant(ONE), limit: 9 })).toEqual([]);
    expect((await store.measure({ tenant: tenant(ONE) })).map(({ requests }) => requests)).toEqual([1]);
  });

  test('a conversation is read by its ids, and from a trace to its parents', async () => {
    await using opened = await open();
    const first = plainTrace(DAY, { lineage: { thread_id: 't' } });
    const parent = { thread_id: 't', parent_checkpoint_id: hex(first.id) };
    const second = plainTrace(DAY + 1, { lineage: parent });
    const other = plainTrace(DAY + 2, { lineage: { ...parent, thread_id: 'other' } });
    await write(opened, first, second, other);
    const { store } = opened;
    expect(checkpointIds(await store.checkpoints({ thread_id: 't', limit: 9 }))).toEqual(hexIds([second, first]));
    expect(checkpointIds(await store.ancestors({ id: hex(other.id), limit: 9 }))).toEqual(hexIds([other, first]));
  });
}

function testRemoval(open: OpenContractStore): void {
  test('what is old is removed, and what keys used stays', async () => {
    await using opened = await open();
    const [old, young] = [plainTrace(DAY, { scope: ONE }), plainTrace(DAY + DAY_MS, { scope: TWO })];
    await write(opened, old, young);
    expect(await removeAll(opened, DAY + DAY_MS)).toBe(1);
    expect(await listed(opened)).toEqual(hexIds([young]));
    expect((await opened.store.summary()).traceCount).toBe(1);
    expect(await opened.store.quotaTotals('2026-01-05')).toMatchObject([{ gateway_key_id: 'gk_1', requests: 1 }]);
    await removeAll(opened, DAY + DAY_MS, DAY + DAY_MS);
    expect(await opened.store.quotaTotals('2026-01-05')).toEqual([]);
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

/** Lists, measures, quota totals and the count agree on what is there. */
async function expectKept(opened: ContractStore, records: readonly TraceRecord[]): Promise<void> {
  const { store } = opened;
  expect((await listed(opened)).toSorted()).toEqual(hexIds(records).toSorted());
  expect((await store.summary()).traceCount).toBe(records.length);
  expect(sum(await store.measure({}))).toBe(records.length);
  for (const [day, of] of Map.groupBy(records, ({ created_at }) => new Date(created_at).toISOString().slice(0, 10))) {
    const totals = await store.quotaTotals(day);
    expect(sum(totals)).toBe(of.length);
    expect(totals).toHaveLength(new Set(of.map(({ scope }) => scope)).size);
    expect(totals.reduce((tokens, row) => tokens + row.total_tokens, 0)).toBe(3 * of.length);
  }
  for (const { id } of records) expect(await store.get(hex(id))).toMatchObject({ request_headers: { a: ['1'] } });
}

async function removeAll({ store }: ContractStore, createdBeforeMs: number, rollupsBeforeMs = 0): Promise<number> {
  let all = 0;
  for (;;) {
    const removed = await store.removeOlderThan(createdBeforeMs, rollupsBeforeMs);
    if (removed === 0) return all;
    all += removed;
  }
}

function sum(rows: readonly { readonly requests: number }[]): number {
  return rows.reduce((requests, row) => requests + row.requests, 0);
}
