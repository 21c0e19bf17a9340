import * as responses from './measures-to-response.ts';
import { costItem, errorItem, latencyItem, rowsOf, seriesJson, usageItem, type SeriesItem } from './series-json.ts';
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
/** Either of the two selects a series instead of totals, by day without a bucket. */
export type SeriesQuery = AnalyticsQuery & {
  readonly group_by?: SeriesGroup | undefined;
  readonly bucket?: Bucket | undefined;
};
/** A bucket selects a series. */
export type BreakdownQuery = AnalyticsQuery & {
  readonly group_by?: BreakdownGroup | undefined;
  readonly bucket?: Bucket | undefined;
};

/** The responses of the endpoints below `/api/analytics`, from any store's measures. A series is its JSON in UTF-8.
 *  Faults: those of `TraceMeasures`. Spec: G7.5 to G7.18. */
export class TraceAnalytics {
  readonly #store: TraceMeasures;

  constructor(store: TraceMeasures) {
    this.#store = store;
  }

  usage(query: SeriesQuery): Promise<object> {
    return this.#wholeOrSeries(daily(query), ['tokens', 'unknown'], responses.usageTotalsOf, usageItem);
  }

  cost(query: SeriesQuery): Promise<object> {
    return this.#wholeOrSeries(daily(query), ['cost', 'unknown'], responses.costTotalsOf, costItem);
  }

  async models(query: AnalyticsQuery): Promise<object> {
    const parts = ['tokens', 'cost', 'unknown', 'latency', 'firstToken'] as const;
    return responses.modelRowsOf(await this.#store.measure({ ...query, groupBy: 'model', parts }));
  }

  async keys(query: AnalyticsQuery): Promise<object> {
    const parts = ['tokens', 'cost', 'unknown', 'lastActive'] as const;
    return responses.keyRowsOf(await this.#store.measure({ ...query, groupBy: 'api_key_hash', parts }));
  }

  latency(query: BreakdownQuery): Promise<object> {
    const rows = (measures: readonly Measure[]) => rowsOf(query.group_by, latencyItem, measures);
    return this.#wholeOrSeries(query, ['latency', 'percentiles', 'unknown'], rows, latencyItem);
  }

  errors(query: BreakdownQuery): Promise<object> {
    const rows = (measures: readonly Measure[]) => rowsOf(query.group_by, errorItem, responses.byRequests(measures));
    return this.#wholeOrSeries(query, ['errors', 'unknown'], rows, errorItem);
  }

  /** Models and credentials are measured concurrently and separately, so a trace written in between may be in only one of them. */
  async summary(query: AnalyticsQuery): Promise<object> {
    const [byModel, byCredential] = await Promise.all([
      this.#store.measure({ ...query, groupBy: 'model', parts: ['tokens', 'cost', 'unknown', 'rejected'] }),
      this.#store.measure({ ...query, groupBy: 'api_key_hash', parts: [] }),
    ]);
    return responses.summaryOf(byModel, byCredential);
  }

  async #wholeOrSeries(
    { group_by: groupBy, ...query }: BreakdownQuery,
    parts: readonly MeasurePart[],
    wholeOf: (of: readonly Measure[]) => object,
    itemOf: SeriesItem,
  ): Promise<object> {
    const { bucket } = query;
    const measures = await this.#store.measure({ ...query, groupBy, parts });
    return bucket === undefined ? wholeOf(measures) : await seriesJson({ groupBy, bucket }, itemOf, measures);
  }
}

/** A group without a bucket is a series by day. */
function daily(query: SeriesQuery): SeriesQuery {
  return { ...query, bucket: query.bucket ?? (query.group_by && 'day') };
}
