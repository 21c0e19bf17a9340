import { expect, test } from '@jest/globals';
import { Fault } from '@vitrine/faults/fault';
import { unparsedLog } from '@vitrine/http-api/connections/unparsed-log';
import { createLogger } from '@vitrine/telemetry/logger';
import type { ServedRequest } from '../http/request-events.ts';
import { RequestLog } from './request-log.ts';

const request = (changes: Partial<ServedRequest> = {}): ServedRequest => ({
  requestId: 'req_1',
  operationId: 'getStore',
  method: 'GET',
  route: '/v1/stores/{domain}',
  headers: {},
  status: 401,
  code: 'unauthorized',
  reason: 'unknown_key',
  workspaceId: undefined,
  keyId: undefined,
  startedAt: 0,
  admittedAt: undefined,
  endedAt: 1,
  billed: {},
  replayOf: undefined,
  error: undefined,
  ...changes,
});

function setUp(logsAccess = true) {
  const lines: string[] = [];
  const clock = { now: 0 };
  const logger = createLogger('test', 'info', { write: (line) => lines.push(line) });
  return { lines, clock, logger, log: new RequestLog(logger, logsAccess, () => clock.now) };
}

test('requests without a key write at most 20 lines a second, whether they fail or not, and the others are counted', () => {
  const { lines, clock, log } = setUp();
  for (let n = 0; n < 100; n += 1) log.add(request());
  for (let n = 0; n < 100; n += 1) log.add(request({ status: 500, code: 'internal', error: new Error('away') }));
  expect(lines.length).toBeLessThanOrEqual(20);
  expect(lines.length + log.suppressed).toBe(300);
  clock.now = 1_000;
  const before = lines.length;
  log.add(request());
  expect(lines.length).toBe(before + 1);
});

test('in any second requests without a key write at most 20 lines, wherever it begins', () => {
  const { lines, clock, log } = setUp();
  const times: number[] = [];
  for (clock.now = 0; clock.now < 5_000; clock.now += 7) {
    const before = lines.length;
    // Few, then many: a window that begins with the first line would allow twice as many around its end.
    if (clock.now > 900) for (let n = 0; n < 5; n += 1) log.add(request());
    times.push(...Array.from({ length: lines.length - before }, () => clock.now));
  }
  const most = Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + 1_000).length));
  expect(most).toBeLessThanOrEqual(20);
  expect(times.length).toBeGreaterThan(40);
});

test('requests without a key write at most 20 lines a second, including one for every bound and parse error', () => {
  const { lines, logger, log } = setUp();
  using unparsed = unparsedLog(logger, (path) => path);
  for (const reason of ['connect_method', 'malformed_request', 'header_overflow', 'request_timeout'] as const)
    unparsed.add({
      reason,
      rejection: { status: 400, error: '' },
      correlationId: 'req_1',
      remoteAddress: undefined,
      line: undefined,
    });
  for (const bound of ['unseen_tokens', 'pool', 'database'])
    log.add(request({ status: 503, code: 'overloaded', error: new Fault('overloaded', { say: 'x', log: { bound } }) }));
  for (let n = 0; n < 100; n += 1) log.add(request());
  expect(lines.length).toBe(20);
});

test('each request with a key has a line, regardless of other requests', () => {
  const { lines, log } = setUp();
  for (let n = 0; n < 100; n += 1) log.add(request());
  const before = lines.length;
  for (let n = 0; n < 100; n += 1) log.add(request({ keyId: 'key_1', status: 200, code: '' }));
  expect(lines.length - before).toBe(100);
});

test('an overload writes one line per bound with the number of requests, for any number of keys', () => {
  const { lines, log } = setUp(false);
  const error = new Fault('overloaded', { say: 'overloaded', log: { bound: 'workspace' } });
  for (let n = 0; n < 1_000; n += 1) log.add(request({ keyId: `key_${n}`, status: 503, code: 'overloaded', error }));
  log[Symbol.dispose]();
  const written = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(written.map(({ bound, count }) => [bound, count])).toEqual([
    ['workspace', 1],
    ['workspace', 999],
  ]);
});
