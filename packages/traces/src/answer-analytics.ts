import * as answers from './analytics-answers.ts';
import type {
  AnalyticsQuestion,
  BreakdownQuestion,
  Measure,
  MeasureQuestion,
  MeasureRange,
  SeriesQuestion,
} from './trace-analytics.ts';

/** Measures; undefined when there are too many. */
type Measuring = (question: MeasureQuestion) => readonly Measure[] | undefined;

/** The answer of an endpoint as JSON text; undefined when it would have too many rows. */
export function answerAnalytics(question: AnalyticsQuestion, measure: Measuring): string | undefined {
  const answer = answerTo(question, measure);
  return answer && JSON.stringify(answer);
}

function answerTo(question: AnalyticsQuestion, measure: Measuring): object | undefined {
  const { from, to, provider, model, tenant } = question;
  const range: MeasureRange = { from, to, provider, model, tenant };
  switch (question.endpoint) {
    case 'usage':
    case 'cost':
      return seriesAnswer(range, question, measure);
    case 'models':
      return some(measure({ ...range, groupBy: 'model' }), answers.modelRowsOf);
    case 'keys':
      return some(measure({ ...range, groupBy: 'api_key_hash' }), answers.keyRowsOf);
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

function seriesAnswer(
  range: MeasureRange,
  { endpoint, groupBy, bucket }: SeriesQuestion,
  measure: Measuring,
): object | undefined {
  if (groupBy === undefined && bucket === undefined)
    return some(measure({ ...range, usageOnly: true }), endpoint === 'usage' ? answers.usageTotalsOf : answers.costTotalsOf);
  const series = { group_by: groupBy, bucket: bucket ?? ('day' as const) };
  const seriesOf = endpoint === 'usage' ? answers.usageSeriesOf : answers.costSeriesOf;
  return some(measure({ ...range, groupBy, bucket: series.bucket, usageOnly: true }), (measures) => seriesOf(measures, series));
}

function breakdownAnswer(range: MeasureRange, { endpoint, groupBy }: BreakdownQuestion, measure: Measuring): object | undefined {
  const isLatency = endpoint === 'latency';
  const rowsOf = isLatency ? answers.latencyRowsOf : answers.errorRowsOf;
  return some(measure({ ...range, groupBy, percentiles: isLatency }), (rows) => rowsOf(rows, groupBy !== undefined));
}

function some(
  measures: readonly Measure[] | undefined,
  make: (of: readonly Measure[]) => object | undefined,
): object | undefined {
  return measures && make(measures);
}
