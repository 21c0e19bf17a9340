import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import fc from 'fast-check';
import { join } from 'node:path';
import type { ExchangeScope } from '@vitrine/traces/exchange-scope';
import { plainTrace } from '@vitrine/traces/testing/plain-trace';
import { DAY_MS, HOUR_MS } from '@vitrine/traces/time-buckets';
import { TraceAnalytics } from '@vitrine/traces/trace-analytics';
import { PICO_PER_USD } from '@vitrine/traces/usd';
import { measuresIn } from './measure-table.ts';
import { SqliteTraceReader } from './sqlite-trace-reader.ts';
import { SqliteTraceWriter } from './sqlite-trace-writer.ts';

// Costs and their sums are exact to a trillionth of a dollar, and printed so, wherever they are added up.

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let files = 0;
beforeAll(async () => {
  folder = await temporaryFolder('costs');
});
afterAll(async () => folder[Symbol.asyncDispose]());
const nextPath = () => join(folder.path, `${(files += 1)}.db`);

const T0 = Date.UTC(2026, 0, 5);
const KEYS = ['gk_1', 'gk_2'].map((gateway_key_id) => ({ org_id: 'o', workspace_id: 'w', gateway_key_id, role: 'member' }));
interface Paid {
  readonly pico: number;
  readonly at: number;
  readonly model: string;
  readonly scope: ExchangeScope;
}
const paid: fc.Arbitrary<Paid> = fc.record({
  pico: fc.oneof(
    { weight: 4, arbitrary: fc.nat(90_000_000) },
    { weight: 2, arbitrary: fc.integer({ min: 0, max: 1e12 }) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 2_000 * PICO_PER_USD }) },
  ),
  at: fc.integer({ min: T0, max: T0 + 2 * DAY_MS }),
  model: fc.constantFrom('small', 'large'),
  scope: fc.constantFrom(...KEYS),
});

/** Trillionths as the decimal that they are. */
function decimal(pico: bigint): string {
  const digits = String(pico).padStart(13, '0');
  return `${digits.slice(0, -12)}.${digits.slice(-12)}`.replace(/\.?0+$/, '');
}
const sumOf = (some: readonly Paid[]) => decimal(some.reduce((sum, { pico }) => sum + BigInt(pico), 0n));
/** The raw text of costs in JSON. Numbers below a millionth have an exponent. */
function printed(json: string): string[] {
  return [...json.matchAll(/"total_cost_usd":([\d.e-]+)/g)].map(([, text = '']) =>
    text.includes('e') ? decimal(BigInt(Math.round(Number(text) * 1e12))) : text,
  );
}

type Endpoint = 'usage' | 'cost' | 'models' | 'summary';

/** The JSON of an endpoint's response. */
async function responseOf(reader: SqliteTraceReader, endpoint: Endpoint, query: object = {}): Promise<string> {
  const analytics = new TraceAnalytics({ measure: async (of) => measuresIn(reader.measure(of)!) });
  const response = await analytics[endpoint](query);
  return response instanceof Uint8Array ? Buffer.from(response).toString() : JSON.stringify(response);
}

test('every sum of costs is printed with exactly its digits', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(paid, { maxLength: 20 }), { maxLength: 6 }),
      fc.integer({ min: T0, max: T0 + 2 * DAY_MS }),
      async (batches, from) => {
        const path = nextPath();
        using writer = new SqliteTraceWriter(path);
        using reader = new SqliteTraceReader(path);
        for (const batch of batches) {
          const records = batch.map(({ pico, at, model, scope }) =>
            plainTrace(at, { timestamp: at, model, scope, estimated_cost_usd: pico / PICO_PER_USD }),
          );
          writer.write(records);
        }
        const all = batches.flat();
        const since = all.filter(({ at }) => at >= from);
        const by = <T>(key: (one: Paid) => T, of = all) => [...Map.groupBy(of, key)];
        expect(printed(await responseOf(reader, 'cost'))).toEqual([sumOf(all)]);
        expect(printed(await responseOf(reader, 'summary', { from }))).toEqual([sumOf(since)]);
        expect(printed(await responseOf(reader, 'cost', { from }))).toEqual([sumOf(since)]);
        expect(printed(await responseOf(reader, 'models')).toSorted()).toEqual(
          by(({ model }) => model)
            .map(([, of]) => sumOf(of))
            .toSorted(),
        );
        expect(printed(await responseOf(reader, 'cost', { bucket: 'hour', from }))).toEqual(
          by(({ at }) => Math.floor(at / HOUR_MS), since)
            .toSorted(([left], [right]) => left - right)
            .map(([, of]) => sumOf(of)),
        );
        for (const [day, ofDay] of by(({ at }) => new Date(at).toISOString().slice(0, 10))) {
          const totals = reader.quotaTotals(day).map((one): [string, number] => [one.gateway_key_id, one.cost_usd]);
          const expected = by(({ scope }) => scope.gateway_key_id, ofDay).map(([key, of]) => [key, Number(sumOf(of))]);
          // A day's total of a key is one double: exact below 8,192 dollars.
          for (const [key, usd] of totals) if (usd < 8_192) expect(expected).toContainEqual([key, usd]);
          expect(totals).toHaveLength(expected.length);
        }
        for (const { id, estimated_cost_usd } of reader.list({ limit: 200 }).items)
          expect(reader.get(id)?.estimated_cost_usd).toBe(estimated_cost_usd);
      },
    ),
    { numRuns: 50, endOnFailure: true },
  );
});

test('an average is printed without noise', async () => {
  const path = nextPath();
  using writer = new SqliteTraceWriter(path);
  using reader = new SqliteTraceReader(path);
  const records = [0.00000615, 0.0000041, 0.00000205].map((estimated_cost_usd, i) => plainTrace(T0 + i, { estimated_cost_usd }));
  writer.write(records);
  expect(await responseOf(reader, 'cost', { bucket: 'day' })).toContain(
    '"total_cost_upper_usd":0.0000123,"request_count":3,"avg_cost_usd":0.0000041,"avg_cost_upper_usd":0.0000041,',
  );
});

describe('unrealistic counts', () => {
  test('give a large number and break no response', async () => {
    const path = nextPath();
    using writer = new SqliteTraceWriter(path);
    using reader = new SqliteTraceReader(path);
    const records = Array.from({ length: 40 }, (_, i) =>
      plainTrace(T0 + 60_000 + i, { timestamp: T0 + 60_000 + i, estimated_cost_usd: i === 0 ? 0.5 : 1e12 }),
    );
    writer.write(records);
    for (const [endpoint, query] of [
      ['cost', {}],
      ['summary', {}],
      // A part of an hour is read from the traces.
      ['cost', { from: T0 + 1_000 }],
      ['cost', { from: T0 + 1_000, bucket: 'hour' }],
    ] as const)
      expect(printed(await responseOf(reader, endpoint, query))).toEqual(['39000000000000.5']);
    expect(reader.quotaTotals('2026-01-05')).toMatchObject([{ cost_usd: 39e12 + 0.5 }]);
  });
});
