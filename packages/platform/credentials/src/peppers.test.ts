import { describe, expect, test } from '@jest/globals';
import { Secret } from '@vitrine/config/secret';
import { createHmac } from 'node:crypto';
import { listedPeppers } from './listed-peppers.ts';
import { PepperCheck } from './pepper-check.ts';
import { pepperProblem, type StoredPeppers } from './pepper-problem.ts';
import { readPepper } from './pepper.ts';
import { CHOSEN_TOKEN } from './token.ts';
import { TokenHashes } from './token-hashes.ts';

const pepper = (version: number, secret = `${version}`) => ({ version, secret: new Secret(secret.repeat(32)) });
const identitiesOf = (...peppers: ReturnType<typeof pepper>[]) => new TokenHashes(peppers).identities;
const stored = (recorded: StoredPeppers['recorded'], used: Readonly<Record<number, number>>): StoredPeppers => ({
  recorded,
  used: Object.entries(used).map(([version, hashes]) => ({ pepper_version: Number(version), hashes })),
});

describe('the fingerprint of a pepper', () => {
  const [one] = identitiesOf(pepper(1));
  const [same] = identitiesOf(pepper(2, '1'));
  const [other] = identitiesOf(pepper(1, 'x'));

  test('depends on the secret, not on the version', () => {
    expect(one?.pepper_fingerprint).toMatch(/^[0-9a-f]{16}$/);
    expect(same?.pepper_fingerprint).toBe(one?.pepper_fingerprint);
    expect(other?.pepper_fingerprint).not.toBe(one?.pepper_fingerprint);
  });

  test('is never the hash of a token and does not contain the secret', () => {
    const text = 'fingerprint of a pepper';
    expect(text).not.toMatch(CHOSEN_TOKEN);
    const mac = createHmac('sha256', '1'.repeat(32)).update(text).digest('hex');
    expect(mac.startsWith(one?.pepper_fingerprint ?? '?')).toBe(true);
    expect(mac).not.toBe(one?.pepper_fingerprint);
  });
});

describe('peppers and stored hashes', () => {
  const both = identitiesOf(pepper(2), pepper(1));
  const newest = identitiesOf(pepper(2));
  test.each([
    ['nothing is stored', both, stored([], {}), undefined],
    ['all are there', both, stored(both, { 1: 3, 2: 1 }), undefined],
    ['hashes have no record', both, stored([], { 1: 3 }), undefined],
    ['an old pepper is gone that no token needs', newest, stored(both, { 2: 1 }), undefined],
    ['one is gone', newest, stored(both, { 1: 3, 2: 1 }), { kind: 'missing', pepper_version: 1, hashes: 3 }],
    ['one without a record is gone', newest, stored([], { 1: 3 }), { kind: 'missing', pepper_version: 1, hashes: 3 }],
    ['all are gone', [], stored(both, { 2: 1 }), { kind: 'missing', pepper_version: 2, hashes: 1 }],
    [
      'one has another secret',
      identitiesOf(pepper(2), pepper(1, 'x')),
      stored(both, { 1: 3 }),
      { kind: 'different', pepper_version: 1, hashes: 3 },
    ],
    [
      'one has another secret, and no token uses it now',
      identitiesOf(pepper(1, 'x')),
      stored(both, {}),
      { kind: 'different', pepper_version: 1, hashes: 0 },
    ],
  ])('when %s', (_, configured, of, problem) => {
    expect(pepperProblem(configured, of)).toEqual(problem);
  });

  test('are listed by version with their state and the number of their tokens', () => {
    const configured = identitiesOf(pepper(3), pepper(2), pepper(1, 'x'));
    const of = stored([...both, ...identitiesOf(pepper(3))], { 0: 4, 1: 3, 2: 1 });
    expect(listedPeppers(configured, of)).toEqual([
      { version: 3, state: 'current', hashes: 0 },
      { version: 2, state: 'accepted', hashes: 1 },
      { version: 1, state: 'different', hashes: 3 },
      { version: 0, state: 'missing', hashes: 4 },
    ]);
  });
});

test('a check logs class, cause, version and next step once, and the recovery; no secret', async () => {
  const lines: string[] = [];
  const log = (fields: object, message: string) => void lines.push(JSON.stringify({ message, ...fields }));
  let now = stored([], { 1: 2 });
  const read = async () => now;
  const check = new PepperCheck({ configured: identitiesOf(pepper(2)), read, logger: { error: log, info: log }, setting: 'SET' });
  expect(check.problem).toBeUndefined();
  for (let i = 0; i < 3; i += 1) await check.check();
  expect(check.problem).toMatchObject({ kind: 'missing', pepper_version: 1 });
  now = stored([], { 2: 2 });
  await check.check();
  expect(check.problem).toBeUndefined();
  expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
    {
      message: 'peppers do not match the stored tokens',
      error_class: 'pepper_missing',
      cause: 'the pepper of version 1 is missing: 2 tokens cannot be verified without it',
      pepper_version: 1,
      hashes: 2,
      next_step: expect.stringContaining('put the pepper of version 1 back into SET and start the process again'),
    },
    { message: 'peppers match the stored tokens again' },
  ]);
  expect(lines.join()).not.toContain('2'.repeat(32));
});

test('a version beyond an integer column is rejected', () => {
  expect(readPepper(`2147483647:${'x'.repeat(32)}`)?.version).toBe(2_147_483_647);
  expect(readPepper(`2147483648:${'x'.repeat(32)}`)).toBeUndefined();
});
