import { describe, expect, test } from '@jest/globals';
import { Secret } from '@vitrine/config/secret';
import { createHmac, randomBytes } from 'node:crypto';
import { createPepperText, readPepper } from './pepper.ts';
import { CHOSEN_TOKEN, createToken } from './token.ts';
import { TokenHashes } from './token-hashes.ts';

const pepper = (version: number) => ({ version, secret: new Secret(`${version}`.repeat(32)) });

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
