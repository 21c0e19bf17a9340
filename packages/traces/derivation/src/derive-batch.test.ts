import { expect, test } from '@jest/globals';
import { openPrivacyContext } from '@vitrine/privacy/privacy-context';
import { settledRecord } from '@vitrine/traces/background-response';
import type { RecordResult } from '@vitrine/traces/record-writer';
import { createTraceIds } from '@vitrine/traces/trace-id';
import fc from 'fast-check';
import { randomBytes } from 'node:crypto';
import type { CapturedBody, CapturedExchange } from './captured-exchange.ts';
import { deriveBatch, resultsOf, tokensOf, unknownOf, usageOf } from './derive-batch.ts';
import { deriveTrace, type DerivationContext } from './derive-trace.ts';
import { openPriceCatalogue } from './price-catalogue.ts';
import { PLAIN_POLICY, plainExchange } from './testing/plain-exchange.ts';

const context = {
  policy: PLAIN_POLICY,
  privacy: openPrivacyContext(PLAIN_POLICY.privacy),
  prices: openPriceCatalogue({ override: undefined }),
  cpuMs: () => 0,
};
const createId = createTraceIds(randomBytes);
const batchOf = (exchanges: readonly CapturedExchange[], own: Partial<DerivationContext> = {}) =>
  deriveBatch(exchanges, (exchange) => deriveTrace(exchange, { ...context, ...own }, createId(exchange.endedAt)));
const DAY = Date.UTC(2026, 0, 5);
const keyScope = (gateway_key_id: string) => ({ org_id: 'o', workspace_id: 'w', gateway_key_id, role: 'member' });
const SCOPES = [keyScope('gk_1'), keyScope('gk_2')];
const FAILED: RecordResult = {
  operation: 'write_batch_fallback',
  error_class: 'constraint',
  error: { name: 'Error', message: 'refused', code: '' },
};

test('already stored records count too, because an earlier try of the batch wrote them', () => {
  const batch = batchOf([plainExchange(10), plainExchange(20)]);
  expect(usageOf(batch, ['written', 'already_there'])).toMatchObject([{ requests: 2, total_tokens: 30 }]);
  expect(tokensOf(batch, []).map(({ input_tokens: input }) => input)).toEqual([5, 10]);
});

test('an exchange whose derivation throws loses only its own record', () => {
  const broken = { ...plainExchange(10), requestHeaders: undefined as unknown as string, hasLineage: true };
  const batch = batchOf([plainExchange(2), broken, plainExchange(4)]);
  expect(batch.records.map(({ total_tokens: tokens }) => tokens)).toEqual([2, 4]);
  const failure = { operation: 'write_trace', error_class: 'unknown', error: { name: 'TypeError' } };
  expect(resultsOf(batch, ['written', FAILED])).toMatchObject(['written', failure, FAILED]);
  expect(usageOf(batch, ['written', 'written'])).toMatchObject([{ requests: 2, total_tokens: 6 }]);
});

test('usage that was read back counts only as settled by the store', () => {
  const usage = { input_tokens: 10, output_tokens: 20, total_tokens: 30 };
  const bytes = Buffer.from(JSON.stringify({ id: 'resp_1', status: 'completed', model: 'prod-chat', usage }));
  const response = { ...plainExchange(0).response, chunks: [bytes], bytes: bytes.length };
  const polled = plainExchange(0, { method: 'GET', path: '/openai/v1/responses/resp_1', scope: SCOPES[0]!, response });
  const batch = batchOf([polled]);
  const creator = { scope: SCOPES[1]!, model: 'gpt-4o' };
  const settled = batch.records.map((record) => ({ settled: settledRecord(record, creator) }));
  expect([usageOf(batch, ['written']), tokensOf(batch, [])]).toMatchObject([[{ requests: 1, total_tokens: 0 }], []]);
  expect(unknownOf(batch, [])).toEqual([]);
  expect(usageOf(batch, settled)).toMatchObject([{ gateway_key_id: 'gk_2', total_tokens: 30 }]);
  expect(tokensOf(batch, settled)).toMatchObject([{ path: '/v1/responses', input_tokens: 10 }]);
  expect(unknownOf(batch, settled)).toEqual([{ provider: 'openai', kind: 'unpriced', count: 1 }]);
});

test('exchanges of unknown cost or usage are counted by provider and kind', () => {
  const body = (value: object): CapturedBody => {
    const bytes = Buffer.from(JSON.stringify(value));
    return { ...plainExchange(0).response, chunks: [bytes], bytes: bytes.length };
  };
  const unpriced = body({ model: 'prod-chat', usage: { prompt_tokens: 1, completion_tokens: 1 } });
  const batch = batchOf([
    plainExchange(10),
    plainExchange(10, { response: unpriced }),
    plainExchange(10, { response: unpriced }),
    plainExchange(10, { response: body({ model: 'gpt-4o' }) }),
    plainExchange(10, { response: body({ model: 'gpt-4o', usage: 'none' }) }),
    plainExchange(0, { method: 'GET' }),
  ]);
  expect(unknownOf(batch, [])).toEqual([
    { provider: 'openai', kind: 'unpriced', count: 2 },
    { provider: 'openai', kind: 'estimated', count: 2 },
    { provider: 'openai', kind: 'missing', count: 1 },
  ]);
});

test('usage covers kept records, tokens cover all', () => {
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
      const { records } = batch;
      const results = made.map(({ result }) => result);
      const kept = records.filter((_, at) => typeof results[at] === 'string');
      const dayOf = (createdAt: number) => (createdAt < DAY ? '2026-01-04' : '2026-01-05');
      const wanted = Map.groupBy(kept, ({ scope, created_at }) => `${dayOf(created_at)} ${scope.gateway_key_id}`);
      // A writer that omits a record leaves a gap or returns a short list.
      const usage = usageOf(batch, results as RecordResult[]);
      expect(new Map(usage.map((row) => [`${row.day} ${row.gateway_key_id}`, [row.requests, row.total_tokens]]))).toEqual(
        new Map([...wanted].map(([key, of]) => [key, [of.length, of.reduce((sum, one) => sum + one.total_tokens, 0)]])),
      );
      const inputs = made.filter(({ tokens }) => tokens > 0).map(({ tokens }) => tokens / 2);
      expect(tokensOf(batch, []).map(({ input_tokens: input }) => input)).toEqual(inputs);
    }),
  );
});

test('after 50 ms of work no body of an exchange is stored, its metadata is marked, and its usage still counts', () => {
  let cpuMs = 0;
  let omitted = 0;
  const exchanges = [plainExchange(10), plainExchange(20)];
  const derive = (stepMs: number) =>
    batchOf(exchanges, {
      policy: { ...PLAIN_POLICY, captureBodies: true, bodyMaxSize: 1_024 },
      cpuMs: () => (cpuMs += stepMs),
      onBodiesOmitted: () => (omitted += 1),
    });
  const inTime = derive(6).records.map(({ metadata }) => 'bodies_omitted' in (JSON.parse(metadata) as object));
  expect([inTime, omitted]).toEqual([[false, false], 0]);
  for (const { request_body, response_body, metadata, total_tokens } of derive(20).records) {
    expect([request_body, response_body]).toEqual([undefined, undefined]);
    expect(JSON.parse(metadata)).toMatchObject({ bodies_omitted: 'time_limit' });
    expect(total_tokens).toBeGreaterThan(0);
  }
  expect(omitted).toBe(2);
});

test('loading the price list does not count as work on the first exchange, which keeps its bodies', () => {
  let cpuMs = 0;
  const prices = {
    version: 'v',
    rates: () => {
      cpuMs += 100;
      return undefined;
    },
    standIn: () => undefined,
  };
  const policy = { ...PLAIN_POLICY, captureBodies: true, bodyMaxSize: 1_024 };
  const [record] = batchOf([plainExchange(10)], { policy, prices, cpuMs: () => cpuMs }).records;
  expect(cpuMs).toBeGreaterThanOrEqual(100);
  expect(JSON.parse(record?.metadata ?? '')).not.toHaveProperty('bodies_omitted');
});
