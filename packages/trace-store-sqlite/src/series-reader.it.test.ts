import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import fc from 'fast-check';
import { join } from 'node:path';
import { costItemsOf, seriesOf, usageItemsOf } from '@vitrine/traces/measures-to-response';
import { plainTrace } from '@vitrine/traces/testing/plain-trace';
import { BUCKETS, DAY_MS, HOUR_MS, type AnalyticsQuery } from '@vitrine/traces/trace-analytics';
import type { SeriesRequest } from '@vitrine/traces/series-text';
import { SqliteTraceReader } from './sqlite-trace-reader.ts';
import { SqliteTraceWriter } from './sqlite-trace-writer.ts';

// What a reader keeps of its answers never shows: whatever happens between them, each is what is measured anew.

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder('series');
});
afterAll(async () => folder[Symbol.asyncDispose]());

const T0 = Date.UTC(2026, 0, 5);
const TENANTS = ['shop', 'lab'].map((workspace_id) => ({ org_id: 'one', workspace_id }));
const SCOPES = TENANTS.map((tenant) => ({ ...tenant, gateway_key_id: 'gk', role: 'member' }));

const moment = fc.oneof(
  fc.integer({ min: 0, max: 5 * 24 }).map((hours) => T0 + hours * HOUR_MS),
  fc.integer({ min: T0 - DAY_MS, max: T0 + 6 * DAY_MS }),
);
const trace = fc
  .record({ at: moment, model: fc.constantFrom('small', 'large'), scope: fc.constantFrom(...SCOPES), costUsd: fc.nat(99) })
  .map(({ at, model, scope, costUsd }) => ({ at, fields: { model, scope, timestamp: at, estimated_cost_usd: costUsd / 16 } }));
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ write: fc.array(trace, { maxLength: 6 }) }) },
  { weight: 1, arbitrary: fc.record({ removeBefore: moment, rollupsBefore: moment }) },
);
const asked: fc.Arbitrary<SeriesRequest> = fc
  .record({
    endpoint: fc.constantFrom('usage' as const, 'cost' as const),
    groupBy: fc.constantFrom(undefined, 'model' as const),
    bucket: fc.constantFrom(...BUCKETS),
    model: fc.constantFrom(undefined, undefined, 'small'),
    tenant: fc.constantFrom(undefined, undefined, ...TENANTS, { org_id: 'no', workspace_id: 'body' }),
    range: fc.tuple(fc.option(moment), fc.option(moment)),
  })
  .map(({ range: [one, other], ...rest }) => {
    const [from, to] = one !== null && other !== null && one > other ? [other, one] : [one, other];
    return { ...rest, from: from ?? undefined, to: to ?? undefined };
  });

/** A question, and all that differ from it in one thing only. */
function likes(question: SeriesRequest): SeriesRequest[] {
  return [
    question,
    { ...question, endpoint: question.endpoint === 'usage' ? 'cost' : 'usage' },
    ...([undefined, 'model', 'provider'] as const).map((groupBy) => ({ ...question, groupBy })),
    ...BUCKETS.map((bucket) => ({ ...question, bucket })),
    { ...question, model: 'large' },
    { ...question, provider: 'nobody' },
    ...[undefined, ...TENANTS].map((tenant) => ({ ...question, tenant })),
    { ...question, from: undefined },
    { ...question, to: undefined },
  ];
}

function expectAnswer(keeping: SqliteTraceReader, reader: SqliteTraceReader, question: SeriesRequest): void {
  const { endpoint, groupBy, bucket } = question;
  const measures = reader.measure({ ...question, usageOnly: true }) ?? [];
  const itemsOf = endpoint === 'usage' ? usageItemsOf : costItemsOf;
  const wanted = JSON.stringify(seriesOf(groupBy, bucket, itemsOf(measures, groupBy !== undefined)));
  const found = keeping.answer(question satisfies AnalyticsQuery);
  expect(Buffer.from(found ?? []).toString()).toBe(wanted);
}

let files = 0;
const create = (journal: number) => {
  const path = join(folder.path, `${(files += 1)}.db`);
  return { path, writer: new SqliteTraceWriter(path, { traces: journal, batches: 3 }) };
};
const write = (writer: SqliteTraceWriter, traces: readonly ReturnType<typeof plainTrace>[]) =>
  writer.write({ count: traces.length, records: () => traces });

test('every answer is what is measured anew', () => {
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 1, maxLength: 10 }),
      fc.array(asked, { minLength: 2, maxLength: 2 }),
      fc.constantFrom(1, 8, 1_000),
      (steps, questions, journal) => {
        const { path, writer } = create(journal);
        using _ = writer;
        using keeping = new SqliteTraceReader(path);
        using reader = new SqliteTraceReader(path);
        for (const one of steps) {
          if ('write' in one)
            write(
              writer,
              one.write.map(({ at, fields }) => plainTrace(at, fields)),
            );
          else writer.removeOlderThan(one.removeBefore, one.rollupsBefore);
          for (const question of questions.flatMap(likes)) expectAnswer(keeping, reader, question);
        }
      },
    ),
    { numRuns: 50, endOnFailure: true },
  );
});

test('an answer changes when the journal holds a trace of an hour that was settled, when it is added, and when days are removed', () => {
  const { path, writer } = create(2);
  using _ = writer;
  using reader = new SqliteTraceReader(path);
  const question = { endpoint: 'usage', bucket: 'day' } as const;
  const days = () => {
    expectAnswer(reader, reader, question);
    const { items } = JSON.parse(Buffer.from(reader.answer(question) ?? []).toString()) as { items: { input_tokens: number }[] };
    return items.map(({ input_tokens: tokens }) => tokens);
  };
  const at = (...days: number[]) =>
    write(
      writer,
      days.map((day) => plainTrace(T0 + day * DAY_MS, { timestamp: T0 + day * DAY_MS })),
    );
  at(0, 1);
  at(2);
  expect(days()).toEqual([1, 1, 1]);
  // One trace in the journal, of a day before: then two, which are added.
  at(0);
  expect(days()).toEqual([2, 1, 1]);
  at(1, 1);
  expect(days()).toEqual([2, 3, 1]);
  writer.removeOlderThan(T0, T0 + DAY_MS);
  expect(days()).toEqual([3, 1]);
});
