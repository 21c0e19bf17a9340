import { describe, expect, test } from '@jest/globals';
import type { CapturedBody } from '@vitrine/trace-derivation/captured-exchange';
import { unpackExchanges, type ExchangeBatch, type PackedExchanges } from '@vitrine/trace-derivation/exchange-batch';
import { plainExchange } from '@vitrine/trace-derivation/testing/plain-exchange';
import type { BatchResult } from '@vitrine/trace-derivation/trace-sink';
import type { WriteFailure } from '@vitrine/traces/write-result';
import { BodyBudget } from './body-budget.ts';
import { pressureState, utilizationPct } from './queue-pressure.ts';
import type { Drop } from './drop.ts';
import { TraceQueue, type TraceLedger } from './trace-queue.ts';

const body = (bytes: number): CapturedBody => ({
  chunks: [new Uint8Array(bytes)],
  bytes,
  kind: undefined,
  coding: '',
  facts: undefined,
});
const exchange = (path: string, bytes = 0) => plainExchange(0, { path, request: body(bytes), response: body(0) });

/** A sink whose batches the test ends. */
function heldSink() {
  const batches: { paths: string[]; memory: PackedExchanges; end: (result?: Partial<BatchResult>) => void; fail: () => void }[] =
    [];
  const write = (batch: ExchangeBatch) => {
    const { promise, resolve, reject } = Promise.withResolvers<BatchResult>();
    const packed = batch.pack();
    const paths = [...unpackExchanges(packed)].map(({ path }) => path);
    batches.push({
      paths,
      memory: packed,
      end: (result) => resolve({ written: paths.length, failures: [], usage: [], ...result }),
      fail: () => reject(new Error('sink')),
    });
    return promise;
  };
  return { batches, write };
}

interface SetUp {
  readonly capacity?: number;
  readonly batch?: number;
  /** Both clocks, unless `steady` is given. */
  readonly now?: () => number;
  readonly steady?: () => number;
  readonly ledger?: TraceLedger;
}

function setUp(options: SetUp = {}) {
  // Each reading of the clock is far enough from the last; pacing has its own test.
  let now = 0;
  const sink = heldSink();
  const budget = new BodyBudget(1_000_000);
  const drops: Drop[] = [];
  const queue = new TraceQueue({
    capacity: options.capacity ?? 8,
    batch: options.batch ?? 4,
    sink,
    budget,
    clock: options.now ?? (() => 0),
    steadyClock: options.steady ?? options.now ?? (() => (now += 1_000)),
    onDrop: (drop) => drops.push(drop),
    ledger: options.ledger,
  });
  return { queue, budget, drops, batches: sink.batches };
}

/** Waits until the queue's own timers of 0 ms have fired. */
const turn = async () => {
  // First completes the pending work of a settled write, so that the queue's timer is older than ours.
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setTimeout(resolve, 2));
};

describe('the trace queue', () => {
  test('writes in order, one batch at a time, each of at most `batch`', async () => {
    const { queue, batches } = setUp();
    for (let i = 0; i < 7; i += 1) expect(queue.enqueue(exchange(`${i}`))).toBe(true);
    await turn();
    expect(batches.map(({ paths }) => paths)).toEqual([['0', '1', '2', '3']]);
    batches[0]?.end();
    await turn();
    expect(batches.map(({ paths }) => paths)).toEqual([
      ['0', '1', '2', '3'],
      ['4', '5', '6'],
    ]);
    expect(queue.depth).toBe(3);
  });

  test('drops the newest when it is full, and counts it', async () => {
    const { queue, drops, batches } = setUp({ capacity: 2, batch: 1, now: () => 77 });
    expect(['a', 'b', 'c'].map((path) => queue.enqueue(exchange(path)))).toEqual([true, true, false]);
    expect(queue.counters).toMatchObject({ enqueueAccepted: 2, enqueueDropped: 1, lastEnqueueDropAt: 77, highWatermark: 2 });
    expect(drops).toEqual([{ where: 'enqueue', count: 1 }]);
    await turn();
    batches[0]?.end();
    await turn();
    expect(queue.enqueue(exchange('d'))).toBe(true);
  });

  test('is saturated while it is full, and for 10 s after it has dropped a trace', async () => {
    let steady = 0;
    const { queue, batches } = setUp({ capacity: 2, batch: 2, steady: () => steady });
    queue.enqueue(exchange('a'));
    expect(queue.isSaturated).toBe(false);
    queue.enqueue(exchange('b'));
    expect(queue.isSaturated).toBe(true);
    await turn();
    batches[0]?.end();
    await turn();
    expect(queue.isSaturated).toBe(false);
    for (const path of ['c', 'd', 'dropped']) queue.enqueue(exchange(path));
    steady += 25;
    await turn();
    batches[1]?.end();
    await turn();
    steady = 9_999;
    expect([queue.depth, queue.isSaturated]).toEqual([0, true]);
    steady += 1;
    expect(queue.isSaturated).toBe(false);
  });

  test('counts what a write lost by class, operation and time', async () => {
    const { queue, batches, drops } = setUp({ now: () => 5 });
    for (const path of ['a', 'b', 'c']) queue.enqueue(exchange(path));
    await turn();
    const failure: WriteFailure = {
      operation: 'write_batch_fallback',
      error_class: 'constraint',
      count: 1,
      error: { name: 'SqliteError', message: 'no', code: 'SQLITE_CONSTRAINT' },
    };
    batches[0]?.end({ written: 2, failures: [failure] });
    await queue.drained();
    expect(drops).toEqual([{ where: 'write', ...failure }]);
    expect(queue.counters).toMatchObject({
      written: 2,
      writeDropped: 1,
      lastWriteDropAt: 5,
      lastWriteDropOperation: 'write_batch_fallback',
    });
    expect(queue.counters.failuresByClass).toMatchObject({ constraint: 1, unknown: 0 });
  });

  test('continues after a sink that rejects, and counts the whole batch as lost', async () => {
    const { queue, batches, drops } = setUp();
    queue.enqueue(exchange('a'));
    await turn();
    batches[0]?.fail();
    await queue.drained();
    expect(queue.counters).toMatchObject({ writeDropped: 1 });
    expect(drops).toMatchObject([{ where: 'write', error_class: 'unknown', count: 1, error: { message: 'sink' } }]);
    queue.enqueue(exchange('b'));
    await turn();
    expect(batches[1]?.paths).toEqual(['b']);
  });

  test('reports accepted exchanges to the ledger, and their results in the same order, lost or not', async () => {
    const reported: unknown[] = [];
    const ledger: TraceLedger = {
      taken: ({ path }) => reported.push(path),
      settled: (count, usage) => reported.push([count, usage]),
    };
    const usage = [
      {
        day: '2026-03-01',
        org_id: 'o',
        workspace_id: 'w',
        gateway_key_id: 'k',
        requests: 2,
        total_tokens: 3,
        estimated_tokens: 0,
        cost_usd: 1,
        cost_upper_usd: 1,
      },
    ];
    const { queue, batches } = setUp({ capacity: 3, batch: 2, ledger });
    for (const path of ['a', 'b', 'c', 'dropped']) queue.enqueue(exchange(path));
    await turn();
    batches[0]?.end({ usage });
    await turn();
    batches[1]?.fail();
    await queue.drained();
    expect(reported).toEqual(['a', 'b', 'c', [2, usage], [1, []]]);
  });

  test('returns the bytes of bodies to the budget, whether written or dropped', async () => {
    const { queue, budget, batches } = setUp({ capacity: 1 });
    for (const path of ['a', 'b']) {
      budget.take(100);
      queue.enqueue(exchange(path, 100));
    }
    expect(budget.heldBytes).toBe(100);
    await turn();
    expect(budget.heldBytes).toBe(0);
    batches[0]?.end();
  });

  test('delays requests when exchanges in flight may not fit, and only while the writer makes progress', async () => {
    let now = 0;
    const { queue } = setUp({ capacity: 8, now: () => now });
    for (let i = 0; i < 5; i += 1) queue.enqueue(exchange(`${i}`));
    await turn();
    expect([2, 3].map((inFlight) => queue.shouldDelay(inFlight))).toEqual([false, true]);
    now = 1_001;
    expect(queue.shouldDelay(3)).toBe(false);
  });

  test('a queue less than half full delays nothing, however much is in flight', () => {
    const { queue } = setUp({ capacity: 8 });
    queue.enqueue(exchange('a'));
    expect(queue.shouldDelay(100)).toBe(false);
  });

  test('small batches start at least 25 ms apart; a full or awaited one starts at once', async () => {
    let now = 100;
    const { queue, batches } = setUp({ batch: 2, now: () => now });
    queue.enqueue(exchange('a'));
    await turn();
    batches[0]?.end();
    await turn();
    queue.enqueue(exchange('b'));
    await turn();
    expect(batches).toHaveLength(1);
    queue.enqueue(exchange('c'));
    await turn();
    expect(batches[1]?.paths).toEqual(['b', 'c']);
    batches[1]?.end();
    now += 1;
    await turn();
    queue.enqueue(exchange('d'));
    void queue.drained();
    await turn();
    expect(batches[2]?.paths).toEqual(['d']);
  });

  test.each([
    ['put back by a day', -86_400_000],
    ['put back by a second', -1_000],
    ['put forward by an hour', 3_600_000],
  ])('a wall clock that is %s stops no batches', async (_, leapMs) => {
    let wall = Date.UTC(2026, 2, 1);
    let steady = 0;
    const { queue, batches } = setUp({ batch: 8, capacity: 8, now: () => wall, steady: () => steady });
    queue.enqueue(exchange('a'));
    await turn();
    batches[0]?.end();
    await turn();
    wall += leapMs;
    steady += 25;
    queue.enqueue(exchange('b'));
    await turn();
    expect(batches.map(({ paths }) => paths)).toEqual([['a'], ['b']]);
    // The writer makes progress for a second, independently of the wall clock.
    for (const path of ['c', 'd', 'e', 'f', 'g']) queue.enqueue(exchange(path));
    wall += leapMs;
    expect(queue.shouldDelay(2)).toBe(true);
    wall -= 10 * leapMs;
    steady += 1_001;
    expect(queue.shouldDelay(2)).toBe(false);
  });

  test.each([
    ['up to 4 MiB', 4 * 1_048_576, true],
    ['not beyond', 4 * 1_048_576 + 1, false],
  ])('the memory that a sink returns is reused for another batch, %s', async (_, bytes, isUsed) => {
    const { queue, batches } = setUp({ batch: 1 });
    queue.enqueue(exchange('a'));
    await turn();
    const memory = Buffer.alloc(bytes);
    batches[0]?.end({ memory });
    await turn();
    for (const path of ['b', 'c']) {
      queue.enqueue(exchange(path));
      await turn();
      batches.at(-1)?.end();
      await turn();
    }
    expect(batches.map(({ paths }) => paths)).toEqual([['a'], ['b'], ['c']]);
    expect([1, 2].map((at) => batches[at]?.memory.bytes === memory)).toEqual([isUsed, false]);
  });

  test('room is available after a batch has left', async () => {
    const { queue, batches } = setUp();
    queue.enqueue(exchange('a'));
    await turn();
    let isFree = false;
    const free = queue.room().then(() => (isFree = true));
    await turn();
    expect(isFree).toBe(false);
    batches[0]?.end();
    await free;
    expect(queue.counters.admissionDelayed).toBe(1);
  });
});

test.each([
  [0, 0, 'ok'],
  [2047, 49, 'ok'],
  [2048, 50, 'elevated'],
  [3276, 79, 'elevated'],
  [3277, 80, 'high'],
  [4095, 99, 'high'],
  [4096, 100, 'saturated'],
])('%i of 4096 is %i percent: %s', (depth, percent, state) => {
  expect(utilizationPct(depth, 4096)).toBe(percent);
  expect(pressureState(percent)).toBe(state);
});
