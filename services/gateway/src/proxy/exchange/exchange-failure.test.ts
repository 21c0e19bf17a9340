import { expect, test } from '@jest/globals';
import { createLogger } from '@vitrine/telemetry/logger';
import type { Provider } from '@vitrine/traces/trace';
import { UPSTREAM_ERRORS, type UpstreamErrorClass } from '@vitrine/traces/upstream-error';
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { upstreamError } from '../upstream/upstream-error.ts';
import { failureOf, type LateExchange, lateFailure, nextStepOf, upstreamFailure } from './exchange-failure.ts';
import { UpstreamErrorLog } from './upstream-error-log.ts';

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

interface Line {
  readonly level: string;
  readonly upstream_error: UpstreamErrorClass;
  readonly correlation_id: string;
  readonly suppressed: Readonly<Partial<Record<Provider, number>>>;
}

/** A log on a clock that the test moves. Timers fire half a millisecond early, as real ones may. */
function openLog() {
  const lines: (Line & { readonly at: number })[] = [];
  let now = 0;
  const timers = new Set<{ readonly at: number; readonly work: () => void }>();
  const logger = createLogger('test', 'info', {
    write: (line) => lines.push({ ...(JSON.parse(line) as Line), at: now }),
  });
  const log = new UpstreamErrorLog(
    logger,
    () => now,
    (work, ms) => {
      const timer = { at: now + Math.max(0.1, ms - 0.5), work };
      timers.add(timer);
      return () => timers.delete(timer);
    },
  );
  const wait = (ms: number) => {
    const until = now + ms;
    for (;;) {
      const [next] = [...timers].filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at);
      if (next === undefined) break;
      timers.delete(next);
      now = Math.max(now, next.at);
      next.work();
    }
    now = until;
  };
  let reported = 0;
  const report = (upstreamError: UpstreamErrorClass, provider: Provider = 'openai', cause?: unknown) =>
    log.report({
      failure: upstreamFailure(upstreamError, 'why', cause),
      provider,
      status: 502,
      correlationId: String((reported += 1)),
      telemetry: undefined,
    });
  return { log, lines, wait, report, timers };
}

const suppressedIn = ({ suppressed }: Line) => Object.values(suppressed).reduce((sum, count) => sum + count, 0);

test('the first failure of each cause is logged at once, the last after a second, and all are counted', () => {
  const { lines, wait, report } = openLog();
  for (let i = 0; i < 5; i += 1) report('reset');
  report('dns');
  report('reset', 'anthropic');
  expect(lines.map(({ upstream_error, suppressed }) => [upstream_error, suppressed])).toEqual([
    ['reset', {}],
    ['dns', {}],
  ]);
  wait(2_000);
  expect(lines.slice(2)).toMatchObject([
    { level: 'warn', correlation_id: '7', suppressed: { openai: 4 }, at: expect.any(Number) },
  ]);
  expect(lines[2]?.at).toBeGreaterThanOrEqual(1_000);
});

test('a line names the cause and the next step, and an error keeps its own details', () => {
  const { lines, report } = openLog();
  report('connect_refused', 'anthropic', Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));
  expect(lines[0]).toMatchObject({
    msg: 'upstream request failed',
    provider: 'anthropic',
    upstream_error: 'connect_refused',
    upstream_error_detail: 'why',
    status: 502,
    correlation_id: '1',
    next_step: expect.stringContaining('providers.<name>.upstream'),
    err: { message: 'connect ECONNREFUSED', code: 'ECONNREFUSED' },
  });
});

test('a failure that is not the fault of the provider is not logged here', () => {
  const { log, lines } = openLog();
  const failure = { outcome: 'timeout' as const, text: 'x', upstreamError: undefined, detail: '' };
  log.report({ failure, provider: 'openai', status: 504, correlationId: '1', telemetry: undefined });
  expect(lines).toEqual([]);
});

test('disposal logs the remaining failures', () => {
  const { log, lines, report, timers } = openLog();
  report('tls');
  report('tls');
  log[Symbol.dispose]();
  expect([lines.length, timers.size]).toEqual([2, 0]);
  expect(lines[1]).toMatchObject({ correlation_id: '2', suppressed: {} });
});

test('in any order of events: at most one line a second per cause, and no failure is uncounted', () => {
  const step = fc.tuple(fc.constantFrom(...UPSTREAM_ERRORS), fc.constantFrom<Provider>('openai', 'anthropic'), fc.nat(1_500));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const { lines, wait, report, timers } = openLog();
      for (const [upstreamError, provider, ms] of steps) {
        report(upstreamError, provider);
        wait(ms);
      }
      wait(3_000);
      expect(timers.size).toBe(0);
      for (const upstreamError of UPSTREAM_ERRORS) {
        const own = lines.filter((line) => line.upstream_error === upstreamError);
        const gaps = own.slice(1).map(({ at }, i) => at - (own[i]?.at ?? 0));
        expect(Math.min(1_000, ...gaps)).toBe(1_000);
        expect(own.length + own.reduce((sum, line) => sum + suppressedIn(line), 0)).toBe(
          steps.filter(([one]) => one === upstreamError).length,
        );
      }
    }),
  );
});
