import { expect, test } from '@jest/globals';
import type { LookupAddress, LookupOptions } from 'node:dns';
import { cachedLookup } from './cached-lookup.ts';

const FIRST = [{ address: '192.0.2.1', family: 4 }];
const SECOND = [
  { address: '192.0.2.2', family: 4 },
  { address: '2001:db8::2', family: 6 },
];

/** A lookup whose answers and clock the test controls. */
function byHand() {
  let nowMs = 0;
  const asked: PromiseWithResolvers<readonly LookupAddress[]>[] = [];
  const resolve = () => {
    const answer = Promise.withResolvers<readonly LookupAddress[]>();
    asked.push(answer);
    return answer.promise;
  };
  const lookup = cachedLookup(resolve, () => nowMs);
  const find = (options: LookupOptions = { all: true }) =>
    new Promise((found, failed) => {
      lookup('api.openai.com', options, (error, ...result) => (error === null ? found(result) : failed(error)));
    });
  return { asked, find, pass: (ms: number) => void (nowMs += ms) };
}

test('connections opened at the same time share one lookup', async () => {
  const { asked, find } = byHand();
  const found = [find(), find(), find({})];
  expect(asked).toHaveLength(1);
  asked[0]?.resolve(FIRST);
  expect(await Promise.all(found)).toEqual([[FIRST], [FIRST], ['192.0.2.1', 4]]);
});

test('fails for all waiting connections, and then looks up again', async () => {
  const { asked, find } = byHand();
  const found = [find(), find()];
  asked[0]?.reject(new Error('getaddrinfo EAI_AGAIN'));
  for (const result of found) await expect(result).rejects.toThrow('EAI_AGAIN');
  const next = find();
  asked[1]?.resolve(SECOND);
  expect(await next).toEqual([SECOND]);
});

test('does not look up for 5 s, and for 60 s no connection waits', async () => {
  const { asked, find, pass } = byHand();
  const first = find();
  asked[0]?.resolve(FIRST);
  await first;
  pass(4_999);
  expect(await find()).toEqual([FIRST]);
  expect(asked).toHaveLength(1);
  pass(1);
  expect(await Promise.all([find(), find()])).toEqual([[FIRST], [FIRST]]);
  expect(asked).toHaveLength(2);
  asked[1]?.resolve(SECOND);
  await asked[1]?.promise;
  expect(await find()).toEqual([SECOND]);
});

test('addresses are used for 60 s while DNS fails', async () => {
  const { asked, find, pass } = byHand();
  const first = find();
  asked[0]?.resolve(FIRST);
  await first;
  pass(59_999);
  expect(await find()).toEqual([FIRST]);
  asked[1]?.reject(new Error('getaddrinfo EAI_AGAIN'));
  expect(await find()).toEqual([FIRST]);
  pass(1);
  const late = find();
  asked[2]?.reject(new Error('getaddrinfo ENOTFOUND'));
  await expect(late).rejects.toThrow('ENOTFOUND');
});
