import * as answers from './measures-to-response.ts';
import { joinSeries, type SeriesRequest, type SeriesSegment } from './series-text.ts';
import type { AnalyticsQuery, BreakdownQuery, Measure, MeasureQuery, MeasureRange, SeriesQuery } from './trace-analytics.ts';

/** Measures; undefined when there are too many. */
type Measuring = (question: MeasureQuery) => readonly Measure[] | undefined;
/** The pieces of a series, in their order; undefined when there are too many items. */
type MakingSeries = (asked: SeriesRequest) => readonly SeriesSegment[] | undefined;

/** The answer of an endpoint: JSON in UTF-8 that shares its memory with nothing; undefined when it would have too many rows. */
export function analyticsResponse(
  question: AnalyticsQuery,
  measure: Measuring,
  makeSeries: MakingSeries,
): Uint8Array<ArrayBuffer> | undefined {
  const { from, to, provider, model, tenant } = question;
  const range: MeasureRange = { from, to, provider, model, tenant };
  const series = seriesIn(question, range);
  if (series !== undefined) {
    const pieces = makeSeries(series);
    return pieces && joinSeries(series, pieces);
  }
  const answer = answerTo(question, range, measure);
  return answer && new TextEncoder().encode(JSON.stringify(answer));
}

/** The series that is asked for, if one is. */
function seriesIn(question: AnalyticsQuery, range: MeasureRange): SeriesRequest | undefined {
  if (question.endpoint !== 'usage' && question.endpoint !== 'cost') return undefined;
  const { endpoint, groupBy, bucket } = question;
  if (groupBy === undefined && bucket === undefined) return undefined;
  return { ...range, endpoint, groupBy, bucket: bucket ?? 'day' };
}

function answerTo(question: AnalyticsQuery, range: MeasureRange, measure: Measuring): object | undefined {
  switch (question.endpoint) {
    case 'usage':
    case 'cost':
      return totalsAnswer(range, question, measure);
    case 'models':
      return some(measure({ ...range, groupBy: 'model' }), (of) => answers.modelRowsOf(of));
    case 'keys':
      return some(measure({ ...range, groupBy: 'api_key_hash' }), (of) => answers.keyRowsOf(of));
    case 'summary':
      return some(measure({ ...range, groupBy: 'model' }), (byModel) =>
        some(measure({ ...range, groupBy: 'api_key_hash' }), (byCredential) => answers.summaryOf(byModel, byCredential)),
      );
    case 'latency':
    case 'errors':
    default:
      return breakdownAnswer(range, question, measure);
  }
}

function totalsAnswer(range: MeasureRange, { endpoint }: SeriesQuery, measure: Measuring): object | undefined {
  return some(measure({ ...range, usageOnly: true }), (of) =>
    endpoint === 'usage' ? answers.usageTotalsOf(of) : answers.costTotalsOf(of),
  );
}

function breakdownAnswer(range: MeasureRange, { endpoint, groupBy }: BreakdownQuery, measure: Measuring): object | undefined {
  const isLatency = endpoint === 'latency';
  const rowsOf = isLatency ? answers.latencyRowsOf : answers.errorRowsOf;
  return some(measure({ ...range, groupBy, percentiles: isLatency }), (rows) => rowsOf(rows, groupBy));
}

function some(
  measures: readonly Measure[] | undefined,
  make: (of: readonly Measure[]) => object | undefined,
): object | undefined {
  return measures && make(measures);
}
