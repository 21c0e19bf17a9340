import { expect, test } from '@jest/globals';
import type { ScanCause } from '@vitrine/stores/scans/queue-scans';
import { ScanSlots } from './scan-slots.ts';

const FOREVER_MS = 600_000;

/** Slots on a clock that the test sets, and the order in which they were given. */
function slotsOf(size: number) {
  const clock = { now: 0 };
  const slots = new ScanSlots(size, () => clock.now);
  const order: string[] = [];
  const take = (name: string, cause: ScanCause) =>
    void slots.take(cause, FOREVER_MS).then((isTaken) => order.push(isTaken ? name : `${name} got none`));
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return { clock, slots, order, take, settle };
}

test('a free slot goes to a requested scan, even if routine ones have waited longer', async () => {
  const { slots, order, take, settle } = slotsOf(1);
  for (const name of ['routine 1', 'routine 2', 'routine 3']) take(name, 'routine');
  for (const name of ['requested 1', 'requested 2']) take(name, 'requested');
  await settle();
  for (let i = 0; i < 2; i += 1) {
    slots.release();
    await settle();
  }
  expect(order).toEqual(['routine 1', 'requested 1', 'requested 2']);
  expect([slots.waiting('routine'), slots.waiting('requested'), slots.taken]).toEqual([2, 0, 1]);
  slots.close();
});

test('routine scans get slots only after no requested one has waited for a second', async () => {
  const { clock, slots, order, take, settle } = slotsOf(1);
  take('requested 1', 'requested');
  take('requested 2', 'requested');
  take('routine', 'routine');
  await settle();
  slots.release();
  slots.release();
  await settle();
  // The next requested message is being fetched.
  expect([order, slots.taken]).toEqual([['requested 1', 'requested 2'], 0]);
  take('requested 3', 'requested');
  await settle();
  expect(order.at(-1)).toBe('requested 3');
  clock.now += 1_000;
  slots.release();
  await settle();
  expect(order.at(-1)).toBe('routine');
  slots.close();
});

test('a timed-out wait takes no slot, and closing ends all waits', async () => {
  const { slots, order, take, settle } = slotsOf(1);
  take('first', 'requested');
  expect(await slots.take('requested', 1)).toBe(false);
  take('late', 'routine');
  slots.close();
  await settle();
  expect([order, slots.taken, await slots.take('requested', FOREVER_MS)]).toEqual([['first', 'late got none'], 1, false]);
});
