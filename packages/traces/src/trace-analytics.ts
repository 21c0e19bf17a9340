import * as responses from './measures-to-response.ts';
import { seriesJson, writeCost, writeUsage, type WriteFields } from './series-json.ts';
import type { Bucket } from './time-buckets.ts';
import type { BreakdownGroup, Measure, MeasurePart, MeasureQuery, SeriesGroup, TraceMeasures } from './trace-measures.ts';

export type AnalyticsQuery = Pick<MeasureQuery, 'from' | 'to' | 'provider' | 'model' | 'tenant'>;
/** Either of the two selects a series instead of totals; a series has days by default. */
export type SeriesQuery = AnalyticsQuery & {
  readonly group_by?: SeriesGroup | undefined;
  readonly bucket?: Bucket | undefined;
};
export type BreakdownQuery = AnalyticsQuery & { readonly group_by?: BreakdownGroup | undefined };

/** The responses of the endpoints below `/api/analytics`, of any store's measures. A series is its JSON in UTF-8.
 *  Faults: those of `TraceMeasures`. Spec: gateway decisions, section 3. */
export class TraceAnalytics {
  readonly #store: TraceMeasures;

  constructor(store: TraceMeasures) {
    this.#store = store;
  }

  usage(query: SeriesQuery): Promise<object> {
    return this.#totalsOrSeries(query, ['tokens'], responses.usageTotalsOf, writeUsage);
  }

  cost(query: SeriesQuery): Promise<object> {
    return this.#totalsOrSeries(query, ['cost'], responses.costTotalsOf, writeCost);
  }

  async models(query: AnalyticsQuery): Promise<object> {
    const parts = ['tokens', 'cost', 'latency', 'firstToken'] as const;
    return responses.modelRowsOf(await this.#store.measure({ ...query, groupBy: 'model', parts }));
  }

  async keys(query: AnalyticsQuery): Promise<object> {
    const parts = ['tokens', 'cost', 'lastActive'] as const;
    return responses.keyRowsOf(await this.#store.measure({ ...query, groupBy: 'api_key_hash', parts }));
  }

  async latency({ group_by: groupBy, ...query }: BreakdownQuery): Promise<object> {
    return responses.latencyRowsOf(await this.#store.measure({ ...query, groupBy, parts: ['latency', 'percentiles'] }), groupBy);
  }

  async errors({ group_by: groupBy, ...query }: BreakdownQuery): Promise<object> {
    return responses.errorRowsOf(await this.#store.measure({ ...query, groupBy, parts: ['errors'] }), groupBy);
  }

  /** Models and credentials are measured at once, each for itself: a trace that is written meanwhile may be in one of them only. */
  async summary(query: AnalyticsQuery): Promise<object> {
    const [byModel, byCredential] = await Promise.all([
      this.#store.measure({ ...query, groupBy: 'model', parts: ['tokens', 'cost'] }),
      this.#store.measure({ ...query, groupBy: 'api_key_hash', parts: [] }),
    ]);
    return responses.summaryOf(byModel, byCredential);
  }

  async #totalsOrSeries(
    query: SeriesQuery,
    parts: readonly MeasurePart[],
    totalsOf: (of: readonly Measure[]) => object,
    writeFields: WriteFields,
  ): Promise<object> {
    const { group_by: groupBy, bucket = groupBy && 'day', ...rest } = query;
    const store = this.#store;
    if (bucket === undefined) return totalsOf(await store.measure({ ...rest, groupBy, parts }));
    const of = { ...rest, groupBy, bucket, parts };
    return await seriesJson(of, (await store.series?.(of)) ?? (await store.measure(of)), writeFields);
  }
}
