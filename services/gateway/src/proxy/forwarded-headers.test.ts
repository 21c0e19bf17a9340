import { describe, expect, test } from '@jest/globals';
import { forwardedRequestHeaders, forwardedResponseHeaders } from './forwarded-headers.ts';

const names = (headers: readonly string[]) => headers.filter((_, i) => i % 2 === 0);

describe('headers on their way to the provider', () => {
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
    ['x-svc-thread-id', 't'],
    ['X-Svc-Correlation-ID', 'c'],
    ['X-Forwarded-For', '10.0.0.1'],
    ['x-forwarded-host', 'h'],
  ])('%s stays behind', (name, value) => {
    expect(forwardedRequestHeaders(['Accept', '*/*', name, value], 'keep-alive')).toEqual(['Accept', '*/*']);
  });

  test('everything else goes on, unchanged in case, order and repetition', () => {
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
    expect(forwardedRequestHeaders(raw, undefined)).toEqual(raw);
  });

  test('what Connection names stays behind', () => {
    const raw = ['Connection', 'close, X-Hop', 'X-Hop', 'secret', 'X-End', '1'];
    expect(names(forwardedRequestHeaders(raw, 'close, X-Hop'))).toEqual(['X-End']);
  });
});

describe('headers on their way back', () => {
  test('cookies and the connection stay behind; latin-1 bytes survive', () => {
    const raw = ['Content-Type', 'a', 'Set-Cookie', '__cf_bm=1', 'connection', 'keep-alive', 'x-request-id', 'caf\u00e9'];
    const bytes = raw.map((text) => Buffer.from(text, 'latin1'));
    expect(forwardedResponseHeaders(bytes, 'keep-alive')).toEqual(['Content-Type', 'a', 'x-request-id', 'caf\u00e9']);
  });
});
