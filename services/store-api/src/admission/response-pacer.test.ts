import { expect, test } from '@jest/globals';
import { EventEmitter } from 'node:events';
import { ResponsePacer } from './response-pacer.ts';

const responseOf = () => Object.assign(new EventEmitter(), { closed: false });

test('refusals are sent at once until they are many, then 200 a second, each at most 8 s later', () => {
  let now = 0;
  const pacer = new ResponsePacer(() => now);
  const delays = Array.from({ length: 1_300 }, () => pacer.delayMs());
  expect(delays.slice(0, 100).every((delay) => delay === 0)).toBe(true);
  expect([delays[100], delays[600], delays.at(-1)]).toEqual([5, 2_505, 6_000]);
  expect(Math.max(...Array.from({ length: 10_000 }, () => pacer.delayMs()))).toBe(8_000);
  expect(pacer.delayed).toBe(11_200);
  now = 60_000;
  expect(pacer.delayMs()).toBe(0);
});

test('a refusal does not wait after its client has left or when the process stops', async () => {
  const pacer = new ResponsePacer(() => 0);
  for (let n = 0; n < 5_000; n += 1) pacer.delayMs();
  const leaving = responseOf();
  const paced = pacer.pace(leaving);
  leaving.emit('close');
  await paced;
  await pacer.pace(Object.assign(leaving, { closed: true }));
  const staying = responseOf();
  const delayed = pacer.pace(staying);
  pacer.open();
  await delayed;
  await pacer.pace(staying);
  expect([leaving.listenerCount('close'), staying.listenerCount('close')]).toEqual([0, 0]);
});
