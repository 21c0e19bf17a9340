import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BucketMeasures, MeasureQuery, TakeBucket } from './trace-measures.ts';
import { roundUsd, usdJson, usdOf } from './usd.ts';

/** Items that are written within one turn of the event loop: about a millisecond of work. */
const ITEMS_PER_TURN = 500;

/** Where an item of a series stands; without `group` nothing was grouped. */
interface ItemPlace {
  readonly bucket_start: string;
  readonly group: string | undefined;
}

/** An item: its place, and the fields of element `at` of its bucket. */
export type SeriesItem = (place: ItemPlace, bucket: BucketMeasures, at: number) => object;

export const usageItem: SeriesItem = ({ bucket_start, group }, { inputTokens, outputTokens, totalTokens }, at) => ({
  bucket_start,
  group,
  input_tokens: inputTokens[at],
  output_tokens: outputTokens[at],
  total_tokens: totalTokens[at],
});

export const costItem: SeriesItem = ({ bucket_start, group }, { costThousands, costPico, requests }, at) => {
  const cost = { thousands: costThousands[at] ?? 0, pico: costPico[at] ?? 0 };
  const request_count = requests[at] ?? 0;
  const avg_cost_usd = roundUsd(usdOf(cost.thousands, cost.pico) / request_count);
  return { bucket_start, group, total_cost_usd: usdJson(cost), request_count, avg_cost_usd };
};

/** The response of a series as JSON in UTF-8. It is written in turns: thirty thousand items (a month by model and hour) at once would block the
 *  event loop, and with it all requests in flight. */
export async function seriesJson(
  { groupBy, bucket }: Pick<MeasureQuery, 'groupBy' | 'bucket'>,
  itemOf: SeriesItem,
  eachBucket: (take: TakeBucket) => Promise<void>,
): Promise<Uint8Array> {
  const start = JSON.stringify({ group_by: groupBy, bucket, items: [] }).slice(0, -']}'.length);
  const written = [Buffer.from(start)];
  let items: object[] = [];
  const write = () => {
    if (items.length > 0) written.push(Buffer.from(`${written.length > 1 ? ',' : ''}${JSON.stringify(items).slice(1, -1)}`));
    items = [];
  };
  await eachBucket(async (of) => {
    const bucket_start = new Date(of.bucketStart).toISOString();
    for (const [at, group] of of.groups.entries()) {
      items.push(itemOf({ bucket_start, group: groupBy && group }, of, at));
      if (items.length < ITEMS_PER_TURN) continue;
      write();
      await nextTurn();
    }
  });
  write();
  return Buffer.concat([...written, Buffer.from(']}')]);
}
