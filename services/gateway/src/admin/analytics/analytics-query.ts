import type { BreakdownQuery, SeriesQuery } from '@vitrine/traces/trace-analytics';
import { BUCKETS } from '@vitrine/traces/time-buckets';
import { BREAKDOWN_GROUPS, SERIES_GROUPS, type MeasureFilters } from '@vitrine/traces/trace-measures';
import { from, oneOf, rangeQuery, text, to, type FilterShapes } from '@vitrine/http-api/requests/query-shapes';

const traces = {
  from: from(),
  to: to(),
  provider: text().describe('Only this provider, such as openai.'),
  model: text().describe('Only this model, by its exact name.'),
} satisfies FilterShapes<MeasureFilters, 'from' | 'to'>;

/** Which traces count. Spec: G7.1. */
export const tracesQuery = rangeQuery(traces);

/** Setting either switches to the shape of a series; without `bucket` it goes by days then. */
export const seriesQuery = rangeQuery({
  ...traces,
  group_by: oneOf(SERIES_GROUPS).describe('Divides the series.'),
  bucket: oneOf(BUCKETS).describe('Of a series, in UTC, weeks from Monday; day by default.'),
} satisfies FilterShapes<Omit<SeriesQuery, 'tenant'>>);

export const breakdownQuery = rangeQuery({
  ...traces,
  group_by: oneOf(BREAKDOWN_GROUPS).describe('One row each; key is the gateway key.'),
} satisfies FilterShapes<Omit<BreakdownQuery, 'tenant'>>);
