import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { createLogger } from '@vitrine/telemetry/logger';
import { ExchangeBatch } from '@vitrine/trace-derivation/exchange-batch';
import type { BatchResult } from '@vitrine/trace-derivation/trace-sink';
import { WriteMonitor } from './write-monitor.ts';

let lines: Record<string, unknown>[];
let writes: PromiseWithResolvers<BatchResult>[];
let probes: PromiseWithResolvers<void>[];
let monitor: WriteMonitor;
beforeEach(() => {
  jest.useFakeTimers();
  [lines, writes, probes] = [[], [], []];
  monitor = new WriteMonitor({
    sink: {
      write: () => {
        writes.push(Promise.withResolvers());
        return writes.at(-1)!.promise;
      },
    },
    probe: () => {
      probes.push(Promise.withResolvers());
      return probes.at(-1)!.promise;
    },
    steadyClock: () => performance.now(),
    logger: createLogger('t', 'info', { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) }),
  });
});
afterEach(() => {
  monitor[Symbol.dispose]();
  jest.useRealTimers();
});

/** A batch of four traces of which `lost` are lost. */
async function batch(lost: number): Promise<void> {
  const writing = monitor.write(four());
  writes.at(-1)?.resolve({ written: 4 - lost, failures: [], usage: [] });
  await writing;
}
function four(): ExchangeBatch {
  const exchanges = new ExchangeBatch(4, 0);
  exchanges.count = 4;
  return exchanges;
}
const turn = () => jest.advanceTimersByTimeAsync(0);

test('writes do not count as failing before the first write, or while complete batches are written', async () => {
  expect(monitor.isFailing).toBe(false);
  await batch(0);
  expect(monitor.isFailing).toBe(false);
  expect([lines, jest.getTimerCount()]).toEqual([[], 0]);
});

test.each([4, 1])('writes fail from a batch that lost %d to the next complete one, which is logged', async (lost) => {
  await batch(lost);
  expect(monitor.isFailing).toBe(true);
  jest.advanceTimersByTime(1_200);
  await batch(1);
  expect(monitor.isFailing).toBe(true);
  await batch(0);
  expect(monitor.isFailing).toBe(false);
  expect(lines).toMatchObject([{ level: 'info', msg: 'trace writes recovered', lost: lost + 1, failed_for_ms: 1_200 }]);
  expect(jest.getTimerCount()).toBe(0);
});

test('a sink that rejects has lost its batch', async () => {
  const writing = monitor.write(four());
  writes[0]?.reject(new Error('the thread ended'));
  await expect(writing).rejects.toThrow('the thread ended');
  expect(monitor.isFailing).toBe(true);
});

test('a batch in progress for 5 s counts as failed until it succeeds', async () => {
  const writing = monitor.write(four());
  jest.advanceTimersByTime(4_999);
  expect(monitor.isFailing).toBe(false);
  jest.advanceTimersByTime(1);
  expect(monitor.isFailing).toBe(true);
  writes[0]?.resolve({ written: 4, failures: [], usage: [] });
  await writing;
  expect(monitor.isFailing).toBe(false);
});

test('without traffic a test write every 5 s detects when the store is back', async () => {
  await batch(4);
  await jest.advanceTimersByTimeAsync(5_000);
  probes[0]?.reject(new Error('still full'));
  await turn();
  expect([probes.length, monitor.isFailing]).toEqual([1, true]);
  await jest.advanceTimersByTimeAsync(5_000);
  probes[1]?.resolve();
  await turn();
  expect(monitor.isFailing).toBe(false);
  expect(lines).toHaveLength(1);
  await jest.advanceTimersByTimeAsync(60_000);
  expect(probes).toHaveLength(2);
});

test('one test write runs at a time, and batches that fail in the meantime override its success', async () => {
  await batch(4);
  await jest.advanceTimersByTimeAsync(5_000);
  await batch(4);
  await jest.advanceTimersByTimeAsync(60_000);
  expect(probes).toHaveLength(1);
  probes[0]?.resolve();
  await turn();
  expect(monitor.isFailing).toBe(true);
  await jest.advanceTimersByTimeAsync(5_000);
  expect(probes).toHaveLength(2);
});
