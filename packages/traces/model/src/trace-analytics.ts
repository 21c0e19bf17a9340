import * as responses from './measures-to-response.ts';
import { costItem, seriesJson, usageItem, type SeriesItem } from './series-json.ts';
import type { Bucket } from './time-buckets.ts';
import type {
  BreakdownGroup,
  Measure,
  MeasurePart,
  MeasureFilters,
  MeasureQuery,
  SeriesGroup,
  TraceMeasures,
} from './trace-measures.ts';

type AnalyticsQuery = MeasureFilters & Pick<MeasureQuery, 'from' | 'to' | 'tenant'>;
/** Either of the two selects a series instead of totals; a series has days by default. */
export type SeriesQuery = AnalyticsQuery & {
  readonly group_by?: SeriesGroup | undefined;
  readonly bucket?: Bucket | undefined;
};
export type BreakdownQuery = AnalyticsQuery & { readonly group_by?: BreakdownGroup | undefined };

/** The responses of the endpoints below `/api/analytics`, from any store's measures. A series is its JSON in UTF-8.
 *  Faults: those of `TraceMeasures`. Spec: G7.5 to G7.18. */
export class TraceAnalytics {
  readonly #store: TraceMeasures;

  constructor(store: TraceMeasures) {
    this.#store = store;
  }

  usage(query: SeriesQuery): Promise<object> {
    return this.#totalsOrSeries(query, ['tokens', 'unknown'], responses.usageTotalsOf, usageItem);
  }

  cost(query: SeriesQuery): Promise<object> {
    return this.#totalsOrSeries(query, ['cost', 'unknown'], responses.costTotalsOf, costItem);
  }

  async models(query: AnalyticsQuery): Promise<object> {
    const parts = ['tokens', 'cost', 'unknown', 'latency', 'firstToken'] as const;
    return responses.modelRowsOf(await this.#store.measure({ ...query, groupBy: 'model', parts }));
  }

  async keys(query: AnalyticsQuery): Promise<object> {
    const parts = ['tokens', 'cost', 'unknown', 'lastActive'] as const;
    return responses.keyRowsOf(await this.#store.measure({ ...query, groupBy: 'api_key_hash', parts }));
  }

  async latency({ group_by: groupBy, ...query }: BreakdownQuery): Promise<object> {
    return responses.latencyRowsOf(
      await this.#store.measure({ ...query, groupBy, parts: ['latency', 'percentiles', 'unknown'] }),
      groupBy,
    );
  }

  async errors({ group_by: groupBy, ...query }: BreakdownQuery): Promise<object> {
    return responses.errorRowsOf(await this.#store.measure({ ...query, groupBy, parts: ['errors', 'unknown'] }), groupBy);
  }

  /** Models and credentials are measured concurrently and separately, so a trace written in between may be in only one of them. */
  async summary(query: AnalyticsQuery): Promise<object> {
    const [byModel, byCredential] = await Promise.all([
      this.#store.measure({ ...query, groupBy: 'model', parts: ['tokens', 'cost', 'unknown', 'rejected'] }),
      this.#store.measure({ ...query, groupBy: 'api_key_hash', parts: [] }),
    ]);
    return responses.summaryOf(byModel, byCredential);
  }

  async #totalsOrSeries(
    query: SeriesQuery,
    parts: readonly MeasurePart[],
    totalsOf: (of: readonly Measure[]) => object,
    itemOf: SeriesItem,
  ): Promise<object> {
    const { group_by: groupBy, bucket = groupBy && 'day', ...rest } = query;
    const measures = await this.#store.measure({ ...rest, groupBy, bucket, parts });
    return bucket === undefined ? totalsOf(measures) : await seriesJson({ groupBy, bucket }, itemOf, measures);
  }
}
