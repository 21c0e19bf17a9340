import { setImmediate as nextTurn } from 'node:timers/promises';
import { unknownIn } from './measures-to-response.ts';
import type { Group, Measure, MeasureQuery } from './trace-measures.ts';
import { roundUsd, usdJson, usdOf } from './usd.ts';

/** Items written within one turn of the event loop, which takes about a millisecond. */
const ITEMS_PER_TURN = 500;

/** The position of an item: without `bucket_start` outside of a series, without `group` if not grouped. */
interface ItemPlace {
  readonly bucket_start?: string;
  readonly group: string | undefined;
}

/** Converts a measure to an item. */
export type SeriesItem = (place: ItemPlace, measure: Measure) => object;

export const usageItem: SeriesItem = (place, measure) => ({
  ...place,
  input_tokens: measure.inputTokens,
  output_tokens: measure.outputTokens,
  total_tokens: measure.totalTokens,
  ...unknownIn(measure),
});

export const costItem: SeriesItem = (place, measure) => {
  const { cost, upper, requests } = measure;
  return {
    ...place,
    total_cost_usd: usdJson(cost),
    total_cost_upper_usd: usdJson(upper),
    request_count: requests,
    avg_cost_usd: roundUsd(usdOf(cost.thousands, cost.pico) / requests),
    avg_cost_upper_usd: roundUsd(usdOf(upper.thousands, upper.pico) / requests),
    ...unknownIn(measure),
  };
};

export const latencyItem: SeriesItem = (place, measure) => ({
  ...place,
  request_count: measure.requests,
  avg_ms: measure.latencyMs / measure.requests,
  min_ms: measure.latencyMsMin,
  max_ms: measure.latencyMsMax,
  p50_ms: measure.p50Ms,
  p95_ms: measure.p95Ms,
  p99_ms: measure.p99Ms,
  ...unknownIn(measure),
});

export const errorItem: SeriesItem = (place, measure) => ({
  ...place,
  total_requests: measure.requests,
  error_count_4xx: measure.errors4xx,
  error_count_5xx: measure.errors5xx,
  error_rate: (measure.errors4xx + measure.errors5xx) / measure.requests,
  ...unknownIn(measure),
});

/** The response of a breakdown without a bucket. */
export function rowsOf(groupBy: Group | undefined, itemOf: SeriesItem, measures: readonly Measure[]): object {
  const items = measures.map((measure) => itemOf({ group: groupBy && measure.group }, measure));
  return { group_by: groupBy, items };
}

/** The response of a series as JSON in UTF-8. It is written in steps, because thirty thousand items (a month by model and hour) at once would
 *  block the event loop, and with it all requests in flight. */
export async function seriesJson(
  { groupBy, bucket }: Pick<MeasureQuery, 'groupBy' | 'bucket'>,
  itemOf: SeriesItem,
  measures: readonly Measure[],
): Promise<Uint8Array> {
  const written = [Buffer.from(JSON.stringify({ group_by: groupBy, bucket, items: [] }).slice(0, -']}'.length))];
  for (let from = 0; from < measures.length; from += ITEMS_PER_TURN) {
    const items = measures.slice(from, from + ITEMS_PER_TURN).map((measure) => {
      const place = { bucket_start: new Date(measure.bucketStart).toISOString(), group: groupBy && measure.group };
      return itemOf(place, measure);
    });
    written.push(Buffer.from(`${from > 0 ? ',' : ''}${JSON.stringify(items).slice(1, -1)}`));
    await nextTurn();
  }
  return Buffer.concat([...written, Buffer.from(']}')]);
}
