import { expect, test } from '@jest/globals';
import { DAY_MS, HOUR_MS } from '../time-buckets.ts';
import type { MeasureQuery } from '../trace-measures.ts';
import { DAY, ONE, tenant, TWO, write, type ContractStore, type OpenContractStore } from './contract-store.ts';
import { plainTrace } from './plain-trace.ts';

/** The tests that every store of measures passes. */
export function testMeasures(open: OpenContractStore): void {
  const rows = async ({ store }: ContractStore, query: MeasureQuery) =>
    (await store.measure(query)).map(({ bucketStart, group, requests }) => [bucketStart, group, requests]);

  test('measures are divided by bucket and group, in this order, and narrowed by filters', async () => {
    await using opened = await open();
    const at = (timestamp: number, model: string, scope = ONE) => plainTrace(timestamp, { timestamp, model, scope });
    const HOUR = DAY + HOUR_MS;
    await write(opened, at(HOUR, 'b'), at(HOUR, 'b'), at(HOUR, 'B'), at(DAY, 'a', TWO), at(DAY + DAY_MS, 'b'));
    const byHour = await rows(opened, { bucket: 'hour', groupBy: 'model', to: DAY + DAY_MS - 1 });
    expect(byHour).toEqual([
      [DAY, 'a', 1],
      [HOUR, 'B', 1],
      [HOUR, 'b', 2],
    ]);
    expect(await rows(opened, { groupBy: 'key', from: HOUR })).toEqual([[0, 'gk_1', 4]]);
    expect(await rows(opened, { bucket: 'day', model: 'b', tenant: tenant(ONE), parts: [] })).toEqual([
      [DAY, '', 2],
      [DAY + DAY_MS, '', 1],
    ]);
    expect(await rows(opened, { model: 'none' })).toEqual([]);
  });

  test('sums are exact, and percentiles are accurate to 1 %', async () => {
    await using opened = await open();
    const records = Array.from({ length: 100 }, (_, at) =>
      plainTrace(DAY + at, {
        response_status: at === 0 ? 503 : at < 3 ? 429 : 200,
        estimated_cost_usd: at === 0 ? 9_000.1 : 0.2,
        latency_ms: 10 * (at + 1),
        time_to_first_token_us: at < 10 ? 500 : 0,
      }),
    );
    await write(opened, ...records);
    const [measure] = await opened.store.measure({});
    expect(measure).toMatchObject({ requests: 100, errors4xx: 2, errors5xx: 1, streams: 10, firstTokenUs: 5_000 });
    expect(measure).toMatchObject({ cost: { thousands: 9, pico: 19.9e12 }, lastActive: records.at(-1)?.timestamp });
    expect(measure).toMatchObject({ latencyMs: 50_500, latencyMsMin: 10, latencyMsMax: 1_000 });
    const { p50Ms = 0, p95Ms = 0, p99Ms = 0 } = measure ?? {};
    for (const [found, exact] of [
      [p50Ms, 500],
      [p95Ms, 950],
      [p99Ms, 990],
    ] as const)
      expect(Math.abs(found - exact)).toBeLessThanOrEqual(exact / 100);
  });
}
