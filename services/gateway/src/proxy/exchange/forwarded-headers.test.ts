import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { headerReaders } from './forwarded-headers.ts';

const { request: readRequestHeaders, response: readResponseHeaders } = headerReaders('X-Svc-Gateway-Key');

const names = (headers: readonly string[]) => headers.filter((_, i) => i % 2 === 0);

describe('request headers', () => {
  test.each([
    ['Host', 'gateway.example'],
    ['Connection', 'keep-alive'],
    ['Keep-Alive', 'timeout=5'],
    ['Transfer-Encoding', 'chunked'],
    ['TE', 'trailers'],
    ['Trailer', 'x'],
    ['Upgrade', 'h2c'],
    ['Expect', '100-continue'],
    ['Proxy-Authorization', 'Basic x'],
    ['Proxy-Connection', 'keep-alive'],
    ['Cookie', 'a=b'],
    ['X-Svc-Gateway-Key', 'sgk_secret'],
    ['X-OngoingAI-Gateway-Key', 'ogk_secret'],
    ['x-ongoingai-gateway-key', 'ogk_secret'],
    ['x-svc-thread-id', 't'],
    ['X-Svc-Correlation-ID', 'c'],
    ['X-Forwarded-For', '10.0.0.1'],
    ['x-forwarded-host', 'h'],
  ])('%s is not forwarded', (name, value) => {
    expect(readRequestHeaders(['Accept', '*/*', name, value], 'keep-alive').forwarded).toEqual(['Accept', '*/*']);
  });

  test('Trailer is forwarded with trailers', () => {
    const raw = ['Accept', '*/*', 'trailer', 'X-Sum', 'TE', 'trailers'];
    expect(names(readRequestHeaders(raw, undefined, true).forwarded)).toEqual(['Accept', 'trailer']);
    expect(names(readResponseHeaders(raw, undefined, true).forwarded)).toEqual(['Accept', 'trailer']);
    expect(names(readRequestHeaders(raw, 'trailer', true).forwarded)).toEqual(['Accept']);
  });

  test('all others are forwarded, unchanged in case, order and repetition', () => {
    const raw = [
      'Authorization',
      'Bearer sk-1',
      'anthropic-Version',
      '2023-06-01',
      'X-Stainless-Lang',
      'js',
      'Idempotency-Key',
      'k',
    ];
    raw.push('x-twice', '1', 'X-Twice', '2', 'Accept-Encoding', 'gzip, br', 'Content-Length', '3', 'traceparent', '00-a-b-01');
    expect(readRequestHeaders(raw, undefined).forwarded).toEqual(raw);
  });

  test('headers named by Connection are not forwarded', () => {
    const raw = ['Connection', 'close, X-Hop', 'X-Hop', 'secret', 'X-End', '1'];
    expect(names(readRequestHeaders(raw, 'close, X-Hop').forwarded)).toEqual(['X-End']);
  });
});

describe('response headers', () => {
  test('cookies and connection headers are not forwarded; latin-1 is preserved', () => {
    const raw = ['Content-Type', 'a', 'Set-Cookie', '__cf_bm=1', 'connection', 'keep-alive', 'x-request-id', 'caf\u00e9'];
    expect(readResponseHeaders(raw, 'keep-alive').forwarded).toEqual(['Content-Type', 'a', 'x-request-id', 'caf\u00e9']);
  });
});

describe('headers in the trace', () => {
  test.each([
    'Authorization',
    'X-API-Key',
    'api-key',
    'Cookie',
    'Set-Cookie',
    'X-Svc-Gateway-Key',
    'X-OngoingAI-Gateway-Key',
    'proxy-authorization',
  ])('the value of %s is hidden', (name) => {
    const read = readRequestHeaders(['Accept', '*/*', name, 'canary', 'X-Trick', 'authorization', 'X-End', '1'], undefined);
    expect(read.stored).toBe(`Accept\n*/*\n${name}\n[REDACTED]\nX-Trick\nauthorization\nX-End\n1`);
    expect(read.secrets).toBe(1);
  });

  test('headers that are not forwarded are included', () => {
    expect(readRequestHeaders(['X-Svc-Thread-ID', 't', 'Host', 'h'], undefined)).toMatchObject({
      stored: 'X-Svc-Thread-ID\nt\nHost\nh',
      hasOwn: true,
    });
    expect(readRequestHeaders(['Host', 'h'], undefined).hasOwn).toBe(false);
  });
});

describe('the header of the gateway key, whatever its name', () => {
  test.each(['X-Team-Key', 'team-key', 'p-key', 'Accept-Key', 'X-Svc-Other'])('%s is dropped and hidden', (name) => {
    const readers = headerReaders(name);
    for (const sent of [name, name.toLowerCase(), name.toUpperCase()]) {
      const read = readers.request(['Accept', '*/*', sent, 'canary', 'X-Svc-Gateway-Key', 'canary'], undefined);
      expect(read).toEqual({
        forwarded: ['Accept', '*/*'],
        stored: `Accept\n*/*\n${sent}\n[REDACTED]\nX-Svc-Gateway-Key\n[REDACTED]`,
        secrets: 2,
        hasOwn: false,
      });
    }
    expect(readers.response([name, 'canary'], undefined).stored).toBe(`${name}\n[REDACTED]`);
  });
});

test('the fast path decides like the full check, in any letter case', () => {
  const special = [
    'x-svc-a',
    'X-SVC-',
    'x-forwarded-proto',
    'proxy-x',
    'host',
    'cookie',
    'authorization',
    'te',
    'trailer',
    'x-api-key',
    'expect',
  ];
  const plain = ['x-svd', 'x-forward', 'hosts', 'accept', 'x-stainless-os', 'x-request-id', 'x', 'x-s', ''];
  const recased = fc.tuple(fc.constantFrom(...special, ...plain), fc.infiniteStream(fc.boolean())).map(([name, upper]) => ({
    name,
    sent: name
      .split('')
      .map((letter) => (upper.next().value === true ? letter.toUpperCase() : letter))
      .join(''),
  }));
  fc.assert(
    fc.property(recased, ({ name, sent }) => {
      const { forwarded, stored } = readRequestHeaders([sent, 'v'], undefined);
      const isDropped = special.includes(name) && name !== 'authorization' && name !== 'x-api-key';
      expect(forwarded).toEqual(isDropped ? [] : [sent, 'v']);
      const isSecret = ['cookie', 'authorization', 'x-api-key'].includes(name);
      expect(stored).toBe(`${sent}\n${isSecret ? '[REDACTED]' : 'v'}`);
    }),
  );
});
