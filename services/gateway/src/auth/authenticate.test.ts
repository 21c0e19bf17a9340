import { beforeEach, describe, expect, test } from '@jest/globals';
import { DEFAULT_SCOPE, NO_SCOPE } from '@vitrine/traces/exchange-scope';
import { keyRow, testHashes } from '../testing/key-rows.ts';
import { allowAll, authenticateBy, ConnectionTokenCache } from './authenticate.ts';
import { KeyRing } from './keys/key-ring.ts';

const LONG = 'x'.repeat(257);
const ring = new KeyRing(testHashes, [keyRow('fixed', 'token-of-the-file', { role: 'owner' })]);
ring.put(keyRow('dev', 'token-of-dev'));
ring.put(keyRow('viewer', 'token-of-viewer', { role: 'viewer' }));
let isFresh = true;
let isComplete = true;
const authenticate = authenticateBy(ring, {
  header: 'X-Team-Key',
  isFresh: () => isFresh,
  isComplete: () => isComplete,
  now: () => 77,
});
const of = (token: string | string[] | undefined, fresh = true) => {
  isFresh = fresh;
  return authenticate(token === undefined ? {} : { 'x-team-key': token }, 'proxy:write');
};

describe('with authentication on', () => {
  test.each([
    ['no key', undefined],
    ['an empty one', ''],
    ['an unknown one', 'sgk_unknown'],
    ['one twice, as Node joins them', 'token-of-dev, token-of-dev'],
    ['two as a list', ['token-of-dev', 'token-of-dev']],
    ['one that is longer than a token may be', LONG],
  ])('%s is 401', (_, token) => {
    expect(of(token)).toMatchObject({
      rejection: { status: 401, error: 'missing or invalid gateway key' },
      caller: { identity: undefined, scope: NO_SCOPE },
    });
  });

  test('only the configured header counts', () => {
    for (const name of ['authorization', 'x-api-key', 'x-svc-gateway-key'])
      expect(authenticate({ [name]: 'token-of-dev' }, 'proxy:write')).toMatchObject({ rejection: { status: 401 } });
  });

  test('a valid token returns its key, which is marked as used', () => {
    expect(of('token-of-dev')).toMatchObject({ identity: { key_id: 'dev' }, lastUsedAt: 77 });
  });

  test('without the permission it is 403, with its caller', () => {
    expect(of('token-of-viewer')).toMatchObject({
      rejection: { status: 403, error: 'gateway key does not have required permission' },
      caller: { identity: { key_id: 'viewer' } },
    });
  });

  test('when the keys of the store are too old every token is 503, except those of the file', () => {
    for (const token of ['token-of-dev', 'sgk_unknown'])
      expect(of(token, false)).toMatchObject({ rejection: { status: 503, error: 'gateway key verification unavailable' } });
    expect(of('token-of-the-file', false)).toMatchObject({ identity: { key_id: 'fixed' } });
    expect(of(undefined, false)).toMatchObject({ rejection: { status: 401 } });
  });
});

test('while a pepper is missing an unknown token is 503, because it may be valid; known ones are accepted', () => {
  isComplete = false;
  expect(of('sgk_unknown')).toMatchObject({ rejection: { status: 503, error: 'gateway key verification unavailable' } });
  expect(of('token-of-dev')).toMatchObject({ identity: { key_id: 'dev' } });
  expect(of(undefined)).toMatchObject({ rejection: { status: 401 } });
});

test('with authentication off all callers belong to one tenant', () => {
  expect(allowAll({}, 'keys:manage')).toEqual({ identity: undefined, scope: DEFAULT_SCOPE });
});

let cachedRing: KeyRing;
let verified: string[];
let keys: ConnectionTokenCache;
beforeEach(() => {
  cachedRing = new KeyRing(testHashes, []);
  cachedRing.put(keyRow('one', 'token-1', { revision: 1 }));
  cachedRing.put(keyRow('two', 'token-2', { revision: 2 }));
  verified = [];
  const verify = (token: string) => {
    verified.push(token);
    return cachedRing.verify(token);
  };
  keys = new ConnectionTokenCache({ verify, holds: (key) => cachedRing.holds(key) });
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
  cachedRing.remove('one', 3);
  expect([idOf('token-1'), idOf('token-1')]).toEqual([undefined, undefined]);
});

test('a rotated token is rejected on its connection, and the new one is accepted', () => {
  expect(idOf('token-1')).toBe('one');
  cachedRing.put(keyRow('one', 'token-9', { revision: 3 }));
  expect([idOf('token-1'), idOf('token-9')]).toEqual([undefined, 'one']);
});

test('other changes of a key apply at once', () => {
  expect(keys.keyOf('token-1', connection)?.identity.role).toBe('developer');
  cachedRing.put(keyRow('one', 'token-1', { revision: 3, role: 'viewer' }));
  expect(keys.keyOf('token-1', connection)?.identity.role).toBe('viewer');
});
