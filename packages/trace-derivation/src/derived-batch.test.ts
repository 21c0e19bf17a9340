import { expect, test } from '@jest/globals';
import { openPrivacyContext } from '@vitrine/privacy/privacy-context';
import type { RecordResult } from '@vitrine/traces/record-writer';
import { createTraceIds } from '@vitrine/traces/trace-id';
import fc from 'fast-check';
import { randomBytes } from 'node:crypto';
import type { CapturedExchange } from './captured-exchange.ts';
import { DerivedBatch } from './derived-batch.ts';
import { openPriceCatalogue } from './price-catalogue.ts';
import { PLAIN_POLICY, plainExchange } from './testing/plain-exchange.ts';

const context = {
  policy: PLAIN_POLICY,
  privacy: openPrivacyContext(PLAIN_POLICY.privacy),
  prices: openPriceCatalogue({ override: undefined }),
  createId: createTraceIds(randomBytes),
  hashCredential: () => new Uint8Array(32),
  cpuMs: () => 0,
};
const batchOf = (exchanges: readonly CapturedExchange[], reports = { reportsUsage: true, reportsTokens: true }) =>
  new DerivedBatch(exchanges.length, () => exchanges[Symbol.iterator](), context, reports);
const DAY = Date.UTC(2026, 0, 5);
const keyScope = (gateway_key_id: string) => ({ org_id: 'o', workspace_id: 'w', gateway_key_id, role: 'member' });
const SCOPES = [keyScope('gk_1'), keyScope('gk_2')];
const FAILED: RecordResult = {
  operation: 'write_batch_fallback',
  error_class: 'constraint',
  error: { name: 'Error', message: 'refused', code: '' },
};

test('an exchange that is read again has the same id, and its usage counts once', () => {
  const batch = batchOf([plainExchange(10), plainExchange(20)]);
  const first = [...batch.records()].map(({ id }) => id);
  expect([...batch.records()].map(({ id }) => id)).toEqual(first);
  expect(batch.usage(['written', 'already_there'])).toMatchObject([{ requests: 2, total_tokens: 30 }]);
  expect(batch.tokens().map(({ input_tokens: input }) => input)).toEqual([5, 10]);
});

test('an exchange whose derivation throws costs one record', () => {
  const broken = { ...plainExchange(10), requestHeaders: undefined as unknown as string, hasLineage: true };
  const batch = batchOf([plainExchange(2), broken, plainExchange(4)]);
  const reading = batch.records()[Symbol.iterator]();
  reading.next();
  expect(() => reading.next()).toThrow(TypeError);
  expect(reading.next()).toMatchObject({ done: false, value: { total_tokens: 4 } });
  expect(reading.next()).toMatchObject({ done: true });
  expect(batch.usage(['written', FAILED, 'written'])).toMatchObject([{ requests: 2, total_tokens: 6 }]);
});

test('nothing is collected that is not reported', () => {
  const batch = batchOf([plainExchange(10)], { reportsUsage: false, reportsTokens: false });
  expect([...batch.records()]).toHaveLength(1);
  expect([batch.usage(['written']), batch.tokens()]).toEqual([[], []]);
});

test('usage is that of what was kept, tokens are those of all', () => {
  const exchange = fc.record({
    tokens: fc.nat({ max: 500 }).map((half) => half * 2),
    key: fc.constantFrom(0, 1),
    endedAt: fc.constantFrom(DAY - 1, DAY, DAY + 1),
    result: fc.constantFrom<RecordResult | undefined>('written', 'already_there', FAILED, undefined),
  });
  fc.assert(
    fc.property(fc.array(exchange, { maxLength: 20 }), (made) => {
      const exchanges = made.map(({ tokens, key, endedAt }) => plainExchange(tokens, { scope: SCOPES[key]!, endedAt }));
      const batch = batchOf(exchanges);
      const records = [...batch.records()];
      const results = made.map(({ result }) => result);
      const kept = records.filter((_, at) => typeof results[at] === 'string');
      const dayOf = (createdAt: number) => (createdAt < DAY ? '2026-01-04' : '2026-01-05');
      const wanted = Map.groupBy(kept, ({ scope, created_at }) => `${dayOf(created_at)} ${scope.gateway_key_id}`);
      // A writer that says nothing of a record leaves a hole or ends early.
      const usage = batch.usage(results as RecordResult[]);
      expect(new Map(usage.map((row) => [`${row.day} ${row.gateway_key_id}`, [row.requests, row.total_tokens]]))).toEqual(
        new Map([...wanted].map(([key, of]) => [key, [of.length, of.reduce((sum, one) => sum + one.total_tokens, 0)]])),
      );
      const inputs = made.filter(({ tokens }) => tokens > 0).map(({ tokens }) => tokens / 2);
      expect(batch.tokens().map(({ input_tokens: input }) => input)).toEqual(inputs);
    }),
  );
});

test('after 50 ms of work no body of an exchange is stored, its metadata says so, and its usage counts all the same', () => {
  let cpuMs = 0;
  const exchanges = [plainExchange(10), plainExchange(20)];
  const batch = new DerivedBatch(
    2,
    () => exchanges[Symbol.iterator](),
    { ...context, policy: { ...PLAIN_POLICY, captureBodies: true, bodyMaxSize: 1_024 }, cpuMs: () => (cpuMs += 6) },
    { reportsUsage: true, reportsTokens: true },
  );
  expect([...batch.records()].map(({ metadata }) => 'bodies_omitted' in (JSON.parse(metadata) as object))).toEqual([
    false,
    false,
  ]);
  const slow = { ...context, policy: { ...PLAIN_POLICY, captureBodies: true, bodyMaxSize: 1_024 }, cpuMs: () => (cpuMs += 20) };
  const late = new DerivedBatch(2, () => exchanges[Symbol.iterator](), slow, { reportsUsage: true, reportsTokens: true });
  for (const { request_body, response_body, metadata, total_tokens } of late.records()) {
    expect([request_body, response_body]).toEqual([undefined, undefined]);
    expect(JSON.parse(metadata)).toMatchObject({ bodies_omitted: 'time_limit' });
    expect(total_tokens).toBeGreaterThan(0);
  }
  expect([batch.bodiesOmitted, late.bodiesOmitted]).toEqual([0, 2]);
});
