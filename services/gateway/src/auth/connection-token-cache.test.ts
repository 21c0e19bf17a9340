import { beforeEach, expect, test } from '@jest/globals';
import { keyRow, testHashes } from '../testing/key-rows.ts';
import { KeyRing } from './keys/key-ring.ts';
import { ConnectionTokenCache } from './authenticate.ts';

let ring: KeyRing;
let verified: string[];
let keys: ConnectionTokenCache;
beforeEach(() => {
  ring = new KeyRing(testHashes, []);
  ring.put(keyRow('one', 'token-1', { revision: 1 }));
  ring.put(keyRow('two', 'token-2', { revision: 2 }));
  verified = [];
  const verify = (token: string) => {
    verified.push(token);
    return ring.verify(token);
  };
  keys = new ConnectionTokenCache({ verify, holds: (key) => ring.holds(key) });
});

const connection = {};
const idOf = (token: string, on: object = connection) => keys.keyOf(token, on)?.identity.key_id;

test('a token is verified once per connection', () => {
  expect([idOf('token-1'), idOf('token-1'), idOf('token-1', {})]).toEqual(['one', 'one', 'one']);
  expect(verified).toEqual(['token-1', 'token-1']);
});

test.each(['token-2', 'token-3', 'token-1x', 'oken-1', '', 'token-\u00b1'])(
  'after an accepted token, %j on the same connection is verified by itself',
  (token) => {
    expect(idOf('token-1')).toBe('one');
    expect(idOf(token)).toBe(token === 'token-2' ? 'two' : undefined);
    expect(idOf('token-1')).toBe('one');
  },
);

test('a key that is revoked is rejected on its connection', () => {
  expect(idOf('token-1')).toBe('one');
  ring.remove('one', 3);
  expect([idOf('token-1'), idOf('token-1')]).toEqual([undefined, undefined]);
});

test('a rotated token is rejected on its connection, and the new one is accepted', () => {
  expect(idOf('token-1')).toBe('one');
  ring.put(keyRow('one', 'token-9', { revision: 3 }));
  expect([idOf('token-1'), idOf('token-9')]).toEqual([undefined, 'one']);
});

test('other changes of a key apply at once', () => {
  expect(keys.keyOf('token-1', connection)?.identity.role).toBe('developer');
  ring.put(keyRow('one', 'token-1', { revision: 3, role: 'viewer' }));
  expect(keys.keyOf('token-1', connection)?.identity.role).toBe('viewer');
});
