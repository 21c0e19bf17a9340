import { expect, test } from '@jest/globals';
import { Secret } from '@vitrine/config/secret';
import { TokenHashes } from '@vitrine/credentials/token-hashes';
import { codeOf } from '@vitrine/faults/fault';
import { ERROR_STATUSES, type ErrorCode } from '@vitrine/stores/resources/error-response';
import { EventEmitter } from 'node:events';
import { AdmissionControl } from './admission-control.ts';
import { ConcurrencyLimiter } from './concurrency-limiter.ts';
import { ResponsePacer } from './response-pacer.ts';
import { MAX_REFUSED_TOKENS, MAX_SEEN_TOKENS, SeenTokens } from './seen-tokens.ts';

const noDatabase = () => Promise.reject(new Error('no database is needed'));
const control = () =>
  new AdmissionControl({
    database: { query: noDatabase, execute: noDatabase },
    connections: 2,
    batchConnections: 1,
    peppers: {
      hashes: new TokenHashes([{ version: 1, secret: new Secret('p'.repeat(32)) }]),
      isComplete: true,
      areComplete: () => Promise.resolve(true),
      verified: () => {},
    },
    clock: () => 0,
  });

/** Enough concurrent responses to delay the last ones. */
function delayedOf(code: ErrorCode): number {
  const pacer = control().pacerOf(code);
  for (let n = 0; n < 150; n += 1) pacer?.delayMs();
  return pacer?.delayed ?? 0;
}

test('refusals of keys and of excess requests are delayed in large numbers, and no other response is', () => {
  const codes = Object.keys(ERROR_STATUSES) as ErrorCode[];
  expect(codes.filter((code) => delayedOf(code) > 0)).toEqual(
    codes.filter((code) => ['unauthorized', 'rate_limited', 'overloaded', 'concurrency_limited'].includes(code)),
  );
});

const limiterOf = (bounds: { limit?: number; maxWaiting?: number; maxWaitMs?: number } = {}) =>
  new ConcurrencyLimiter({ bound: 'test', limit: 2, maxWaiting: 3, maxWaitMs: 600_000, ...bounds });
const codeOfAcquire = (limiter: ConcurrencyLimiter, group = 'a') =>
  limiter.acquire(group).then(
    () => 'acquired',
    (error: unknown) => codeOf(error),
  );

test('at most the limit of a group runs at a time, others wait in order, and groups do not wait for each other', async () => {
  const limiter = limiterOf();
  const order: string[] = [];
  const ends: (() => void)[] = [];
  const enter = (group: string, name: string) =>
    limiter.run(group, () => {
      order.push(name);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
  const all = [enter('a', 'a1'), enter('a', 'a2'), enter('a', 'a3'), enter('a', 'a4'), enter('b', 'b1')];
  await Promise.resolve();
  expect([order, limiter.mostRunning]).toEqual([['a1', 'a2', 'b1'], 2]);
  for (let n = 0; n < all.length; n += 1) {
    ends[n]?.();
    await new Promise(setImmediate);
  }
  await Promise.all(all);
  expect([order, limiter.mostRunning]).toEqual([['a1', 'a2', 'b1', 'a3', 'a4'], 0]);
});

test('a caller is refused at once when too many wait, or after waiting too long', async () => {
  const limiter = limiterOf({ limit: 1, maxWaiting: 1, maxWaitMs: 1 });
  const release = await limiter.acquire('a');
  const waiting = codeOfAcquire(limiter);
  expect(await codeOfAcquire(limiter)).toBe('overloaded');
  expect(await waiting).toBe('overloaded');
  release();
  expect(await codeOfAcquire(limiter)).toBe('acquired');
});

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

const identity = { key_id: 'key_1', workspace_id: 'ws_1', concurrency: 2 };

test('an unknown token is refused from memory for 5 s', () => {
  let now = 0;
  const tokens = new SeenTokens(() => now);
  tokens.refuse('a');
  now = 4_999;
  expect([tokens.isRefused('a'), tokens.isRefused('b')]).toEqual([true, false]);
  now = 5_000;
  expect([tokens.isRefused('a'), tokens.figures.refused]).toEqual([false, 0]);
});

test('beyond the bounds the oldest refused tokens and the least recently used known tokens are forgotten', () => {
  const tokens = new SeenTokens(() => 0);
  for (let n = 0; n <= MAX_REFUSED_TOKENS; n += 1) tokens.refuse(`r${n}`);
  for (let n = 0; n < MAX_SEEN_TOKENS; n += 1) tokens.remember(`s${n}`, identity);
  tokens.identityOf('s0');
  tokens.remember('another', identity);
  expect(tokens.figures).toEqual({ seen: MAX_SEEN_TOKENS, refused: MAX_REFUSED_TOKENS });
  expect([tokens.isRefused('r0'), tokens.isRefused('r1')]).toEqual([false, true]);
  expect([tokens.identityOf('s0'), tokens.identityOf('s1')]).toEqual([identity, undefined]);
});

test('a key whose row was deleted is forgotten', () => {
  const tokens = new SeenTokens(() => 0);
  tokens.remember('a', identity);
  tokens.refuse('a');
  expect([tokens.identityOf('a'), tokens.isRefused('a')]).toEqual([undefined, true]);
});
