import { expect, test } from '@jest/globals';
import { DAY_MS } from '../time-buckets.ts';
import type { Checkpoint, TraceDetail } from '../trace.ts';
import { SUMMARY_FIELDS } from '../trace-fields.ts';
import type { TraceRecord } from '../trace-record.ts';
import type { TraceFilters } from '../trace-store.ts';
import {
  DAY,
  expectKept,
  hex,
  hexIds,
  listed,
  ONE,
  removeAll,
  tenant,
  TWO,
  write,
  type OpenContractStore,
} from './contract-store.ts';
import { plainTrace } from './plain-trace.ts';
import { testMeasures } from './trace-measures-contract.ts';
import { testTraceStoreFailures } from './trace-store-failures.ts';

const checkpointIds = (checkpoints: readonly Checkpoint[]) => checkpoints.map(({ id }) => id);

/** The tests that every store of traces passes. */
export function testTraceStore(open: OpenContractStore): void {
  testWriting(open);
  testReading(open);
  testMeasures(open);
  testRemoval(open);
  testTraceStoreFailures(open);
}

function testWriting(open: OpenContractStore): void {
  test('a record is read as it was written', async () => {
    await using opened = await open();
    const record: Required<TraceRecord> = {
      id: plainTrace(DAY).id,
      scope: ONE,
      timestamp: DAY - 12,
      created_at: DAY,
      provider: 'anthropic',
      model: 'claude-sonnet-4',
      request_method: 'PUT',
      request_path: '/anthropic/v1/messages',
      response_status: 502,
      outcome: 'upstream_error',
      input_tokens: 11,
      output_tokens: 22,
      total_tokens: 33,
      usage_status: 'missing',
      latency_ms: 44,
      time_to_first_token_us: 1_500,
      api_key_hash: new Uint8Array(32).fill(0xab),
      estimated_cost_usd: 0.25,
      cost_status: 'estimated',
      cost_upper_usd: 0.5,
      response_model: 'claude-haiku-4-5',
      lineage: {
        trace_group_id: 'g',
        group_fallback: false,
        thread_id: 't',
        run_id: 'r',
        parent_checkpoint_id: 'p',
        checkpoint_seq: 3,
      },
      request_headers: 'A\n1\nB\n2\na\n3',
      response_headers: 'C\n4',
      request_body: 'Grüße',
      response_body: '',
      metadata: '{"streaming":true}',
      background: { role: 'created', response: 'cd'.repeat(32) },
      upper_tokens: 44,
      batch_files: [{ batch: 'ab'.repeat(32), file: 'ef'.repeat(32) }],
    };
    expect(await write(opened, record)).toEqual(['written']);
    const expected: Required<TraceDetail> = {
      id: hex(record.id),
      timestamp: new Date(DAY - 12).toISOString(),
      created_at: new Date(DAY).toISOString(),
      provider: 'anthropic',
      model: 'claude-sonnet-4',
      request_method: 'PUT',
      request_path: '/anthropic/v1/messages',
      response_status: 502,
      outcome: 'upstream_error',
      input_tokens: 11,
      output_tokens: 22,
      total_tokens: 33,
      usage_status: 'missing',
      latency_ms: 44,
      time_to_first_token_ms: 2,
      time_to_first_token_us: 1_500,
      api_key_hash: 'ab'.repeat(32),
      estimated_cost_usd: 0.25,
      cost_status: 'estimated',
      cost_upper_usd: 0.5,
      trace_group_id: 'g',
      lineage: {
        group_id: 'g',
        thread_id: 't',
        run_id: 'r',
        checkpoint_id: hex(record.id),
        parent_checkpoint_id: 'p',
        checkpoint_seq: 3,
        immutable: true,
      },
      request_headers: { a: ['1', '3'], b: ['2'] },
      response_headers: { c: ['4'] },
      request_body: 'Grüße',
      response_body: '',
      metadata: {
        streaming: true,
        org_id: 'o',
        workspace_id: 'w1',
        gateway_key_id: 'gk_1',
        role: 'member',
        lineage_group_id: 'g',
        lineage_thread_id: 't',
        lineage_run_id: 'r',
        lineage_checkpoint_id: hex(record.id),
        lineage_parent_checkpoint_id: 'p',
        lineage_checkpoint_seq: 3,
        lineage_immutable: true,
        lineage_group_source: 'client',
      },
    };
    expect(await opened.store.get(hex(record.id))).toEqual(expected);
    const { items } = await opened.store.list({ limit: 1 });
    expect(items).toEqual([Object.fromEntries(Object.entries(expected).filter(([name]) => name in SUMMARY_FIELDS))]);
  });

  test('a record written again is stored and counted once', async () => {
    await using opened = await open();
    const [one, two] = [plainTrace(DAY, { scope: ONE }), plainTrace(DAY + 1, { scope: ONE })];
    await write(opened, one);
    expect(await write(opened, one, two)).toEqual(['already_there', 'written']);
    await expectKept(opened, [one, two]);
  });

  test('a bad record affects no other', async () => {
    await using opened = await open();
    const good = [plainTrace(DAY), plainTrace(DAY + 2)] as const;
    const bad = plainTrace(DAY + 1, { model: null as never });
    const failed = { operation: 'write_batch_fallback', error_class: 'constraint' };
    expect(await write(opened, good[0], bad, good[1])).toMatchObject(['written', failed, 'written']);
    await expectKept(opened, good);
  });
}

/** For each filter, fields that only one trace has, and the value of the filter that finds it. Every column that a filter could read by mistake
 *  differs from it. */
const FILTERS: {
  readonly [Name in keyof Required<TraceFilters>]: readonly [Partial<TraceRecord>, NonNullable<TraceFilters[Name]>];
} = {
  trace_group_id: [{ lineage: { trace_group_id: 'only' } }, 'only'],
  thread_id: [{ lineage: { thread_id: 'only' } }, 'only'],
  run_id: [{ lineage: { run_id: 'only' } }, 'only'],
  provider: [{ provider: 'anthropic' }, 'anthropic'],
  model: [{ model: 'only' }, 'only'],
  api_key_hash: [{ api_key_hash: new Uint8Array(32).fill(0xab) }, 'ab'.repeat(32)],
  status: [{ response_status: 503 }, 503],
  usage_status: [{ usage_status: 'undecodable' }, 'undecodable'],
  cost_status: [{ cost_status: 'unpriced' }, 'unpriced'],
  min_tokens: [{ total_tokens: 4 }, 4],
  max_tokens: [{ total_tokens: 0 }, 0],
  from: [{ timestamp: DAY - 9 }, DAY - 9],
  to: [{ timestamp: DAY - 11 }, DAY - 11],
};

function testReading(open: OpenContractStore): void {
  test.each(Object.entries(FILTERS))('the filter %s finds the trace that differs in its field', async (name, [fields, value]) => {
    await using opened = await open();
    const only = plainTrace(DAY, fields);
    await write(opened, plainTrace(DAY), only, plainTrace(DAY));
    expect(await listed(opened, { [name]: value })).toEqual(hexIds([only]));
  });

  test('lists return the selected traces newest first, page by page', async () => {
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

  test('filters accept any text and find traces stored with it', async () => {
    await using opened = await open();
    const odd = plainTrace(DAY, { model: 'a\0b', lineage: { thread_id: 't\0' } });
    await write(opened, odd, plainTrace(DAY + 1));
    for (const query of [{ model: 'a\0b' }, { thread_id: 't\0' }]) expect(await listed(opened, query)).toEqual(hexIds([odd]));
    expect(await listed(opened, { run_id: '\0' })).toEqual([]);
    expect((await opened.store.measure({ model: 'a\0b' })).map(({ requests }) => requests)).toEqual([1]);
  });

  test('traces of another tenant are not visible', async () => {
    await using opened = await open();
    const [mine, theirs] = [plainTrace(DAY, { scope: ONE }), plainTrace(DAY, { scope: TWO })];
    await write(opened, mine, theirs);
    const { store } = opened;
    expect(await store.get(hex(theirs.id), tenant(ONE))).toBeUndefined();
    expect(await store.ancestors({ id: hex(theirs.id), tenant: tenant(ONE), limit: 9 })).toEqual([]);
    expect((await store.measure({ tenant: tenant(ONE) })).map(({ requests }) => requests)).toEqual([1]);
  });

  test('a conversation is read by its ids, and from a trace to its ancestors', async () => {
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
  test('old traces are removed, and the usage of keys stays', async () => {
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
