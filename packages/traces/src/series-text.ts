import * as answers from './measures-to-response.ts';
import type { Bucket, Measure, MeasureRange, SeriesQuery } from './trace-analytics.ts';

/** A question for a series of usage or cost. */
export type SeriesRequest = MeasureRange & Pick<SeriesQuery, 'endpoint' | 'groupBy'> & { readonly bucket: Bucket };

/** Some items of a series, one after the other, as JSON in UTF-8 without what stands around and between them and others. */
export interface SeriesSegment {
  readonly items: number;
  readonly json: Uint8Array;
}

export function seriesSegmentOf({ endpoint, groupBy }: SeriesRequest, measures: readonly Measure[]): SeriesSegment {
  const itemsOf = endpoint === 'usage' ? answers.usageItemsOf : answers.costItemsOf;
  const json = JSON.stringify(itemsOf(measures, groupBy !== undefined)).slice('['.length, -']'.length);
  return { items: measures.length, json: new TextEncoder().encode(json) };
}

/** The answer that has the items of these pieces, in their order: JSON in UTF-8. */
export function joinSeries({ groupBy, bucket }: SeriesRequest, pieces: readonly SeriesSegment[]): Uint8Array<ArrayBuffer> {
  const end = ']}';
  const head = JSON.stringify(answers.seriesOf(groupBy, bucket, [])).slice(0, -end.length);
  const filled = pieces.filter(({ items }) => items > 0);
  const between = filled.flatMap(({ json }, i) => (i === 0 ? [json] : [Buffer.from(','), json]));
  const parts = [Buffer.from(head), ...between, Buffer.from(end)];
  const joined = new Uint8Array(parts.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.byteLength;
  }
  return joined;
}
