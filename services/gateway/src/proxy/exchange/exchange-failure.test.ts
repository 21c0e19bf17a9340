import { expect, test } from '@jest/globals';
import { UPSTREAM_ERRORS } from '@vitrine/traces/upstream-error';
import { readFileSync } from 'node:fs';
import { upstreamError } from '../upstream/upstream-error.ts';
import { failureOf, lateFailure, nextStepOf, upstreamFailure, type LateExchange } from './exchange-failure.ts';

const open = { stage: 'open', isSendingBlocked: false, received: 'before the response' } as const;
const late: LateExchange = {
  times: { firstByteTimeoutMs: 20, idleTimeoutMs: 30 },
  isRequestWhole: true,
  hasBegun: false,
  isClientBehind: false,
  isGatewayBehind: false,
  upstream: open,
};

test.each<[string, Partial<LateExchange>, string, string]>([
  ['no response', {}, 'first_byte_timeout', 'no response within 20 ms, stopped before the response'],
  [
    'a name that is not resolved',
    { upstream: { ...open, stage: 'dns' } },
    'dns',
    'no connection within first_byte_timeout_ms 20',
  ],
  ['no connection', { upstream: { ...open, stage: 'connect' } }, 'connect_timeout', 'TCP is connecting'],
  ['no secure connection', { upstream: { ...open, stage: 'tls' } }, 'connect_timeout', 'TLS handshake under way'],
  [
    'a request that is not taken',
    { isRequestWhole: false, upstream: { ...open, isSendingBlocked: true } },
    'first_byte_timeout',
    'request body not taken for 20 ms',
  ],
  ['half a response', { hasBegun: true, upstream: { ...open, received: 'here' } }, 'idle_timeout', 'nothing for 30 ms, here'],
])('%s in time is the fault of the provider', (_, more, upstreamError, detail) => {
  expect(lateFailure({ ...late, ...more })).toMatchObject({ upstreamError, detail: expect.stringContaining(detail) });
});

test.each<[string, Partial<LateExchange>, string]>([
  ['a request that has not come', { upstream: undefined }, 'the request did not arrive in time'],
  ['a request that stops', { isRequestWhole: false }, 'the request did not arrive in time'],
  ['a response that is not looked at', { hasBegun: true, isGatewayBehind: true }, 'the response was not read in time'],
])('%s in time is not', (_, more, text) => {
  expect(lateFailure({ ...late, ...more })).toEqual({ outcome: 'timeout', text, upstreamError: undefined, detail: '' });
});

test.each<[string, Partial<LateExchange>]>([
  ['a response', { hasBegun: true, isClientBehind: true }],
  ['a whole response', { hasBegun: true, upstream: undefined }],
])('a client that does not take %s has left', (_, more) => {
  expect(lateFailure({ ...late, ...more })).toBeUndefined();
});

test('a client that left has no failure, and a bug has no class', () => {
  expect(failureOf(upstreamError('request_aborted', 'x'))).toBeUndefined();
  expect(failureOf(upstreamError('request_failed', 'x'))).toMatchObject({ outcome: 'upstream_error', upstreamError: undefined });
});

test.each(UPSTREAM_ERRORS)('%s has a status, a next step, and the same in docs/failure-modes.md', (upstreamError) => {
  const { outcome, text } = upstreamFailure(upstreamError, 'x');
  expect([text, nextStepOf(upstreamError)]).toEqual([
    expect.stringMatching(`^the provider.* \\(${upstreamError}\\)$|^no `),
    expect.stringMatching(/^check /),
  ]);
  const docs = readFileSync(new URL('../../../../../docs/failure-modes.md', import.meta.url), 'utf8');
  expect(docs).toContain(`\n| \`${upstreamError}\` | ${outcome === 'timeout' ? 504 : 502} |`);
});
