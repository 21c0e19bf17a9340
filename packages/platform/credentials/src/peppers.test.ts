import { describe, expect, test } from '@jest/globals';
import { Secret } from '@vitrine/config/secret';
import { createHmac, randomBytes } from 'node:crypto';
import { listedPeppers } from './listed-peppers.ts';
import { PepperCheck } from './pepper-check.ts';
import { pepperProblem, type StoredPeppers } from './pepper-problem.ts';
import { createPepperText, readPepper } from './pepper.ts';
import { TokenHashes } from './token-hashes.ts';
import { CHOSEN_TOKEN, createToken } from './token.ts';

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

describe('a token', () => {
  test('is its prefix and base64url of 24 random bytes', () => {
    expect(createToken('sgk_', (bytes) => Buffer.alloc(bytes, 0xff))).toBe(`sgk_${'_'.repeat(32)}`);
    expect(createToken('sgk_', randomBytes)).toMatch(CHOSEN_TOKEN);
  });

  test.each([
    'x'.repeat(23),
    'x'.repeat(257),
    `${'x'.repeat(30)} `,
    `${'x'.repeat(30)},`,
    `${'x'.repeat(30)}\n`,
    'ü'.repeat(30),
    '',
  ])('%j is not a valid token', (token) => expect(token).not.toMatch(CHOSEN_TOKEN));
});

describe('TokenHashes', () => {
  test('a hash is the HMAC-SHA-256 under the first pepper, with its version', () => {
    const { pepper_version, token_mac } = new TokenHashes([pepper(2), pepper(1)]).hash('token');
    const expected = createHmac('sha256', '2'.repeat(32)).update('token').digest('hex');
    expect([pepper_version, Buffer.from(token_mac).toString('hex')]).toEqual([2, expected]);
  });

  test('a token is found under an older pepper, and not under a removed one', () => {
    const old = Buffer.from(new TokenHashes([pepper(1)]).hash('token').token_mac);
    const find = (mac: string) => old.equals(Buffer.from(mac, 'latin1')) || undefined;
    expect(new TokenHashes([pepper(2), pepper(1)]).find('token', find)).toBe(true);
    expect(new TokenHashes([pepper(2)]).find('token', find)).toBeUndefined();
    expect(new TokenHashes([pepper(2), pepper(1)]).find('Token', find)).toBeUndefined();
  });
});

describe('a pepper', () => {
  test('that was created is read, and its version is the second', () => {
    const made = readPepper(createPepperText(randomBytes, 1_763_000_000_999));
    expect(made?.version).toBe(1_763_000_000);
    expect(made?.secret.reveal()).toHaveLength(43);
  });

  test.each(['', '1', `:${'x'.repeat(32)}`, `1:${'x'.repeat(31)}`, `one:${'x'.repeat(32)}`, `1:${'x'.repeat(32)},`])(
    '%j is rejected',
    (text) => expect(readPepper(text)).toBeUndefined(),
  );
});
