import { expect, test } from '@jest/globals';
import { createLogger } from '@vitrine/telemetry/logger';
import type { Provider } from '@vitrine/traces/trace';
import { UPSTREAM_ERRORS, type UpstreamErrorClass } from '@vitrine/traces/upstream-error';
import fc from 'fast-check';
import { upstreamFailure } from './exchange-failure.ts';
import { UpstreamErrorLog } from './upstream-error-log.ts';

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
