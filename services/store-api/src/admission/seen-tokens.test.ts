import { expect, test } from '@jest/globals';
import { MAX_REFUSED_TOKENS, MAX_SEEN_TOKENS, SeenTokens } from './seen-tokens.ts';

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
