import type { Instrument } from '@vitrine/telemetry/metrics/instrument';
import { counterData, histogramData, type CounterPoint } from '@vitrine/telemetry/metrics/metric-data';
import { REQUEST_INSTRUMENTS as I } from './instruments.ts';
import type { RequestSeries, Series } from './request-series.ts';

type Count = 'proxy' | 'provider' | 'dropped';
type Duration = 'proxyDuration' | 'providerDuration';

/** The counts and durations of `requests`, as metrics to be collected at `now` (milliseconds since the epoch). */
export function requestSeriesData(requests: RequestSeries, now: number) {
  const all = [...requests.series()];
  const counter = (instrument: Instrument, which: Count) =>
    counterData(
      instrument,
      all.flatMap((series) => pointsOf(series, which)),
      now,
    );
  const histogram = (instrument: Instrument, which: Duration) =>
    histogramData(
      instrument,
      all.map((series) => series[which]),
      now,
    );
  return [
    counter(I.proxyRequests, 'proxy'),
    counter(I.providerRequests, 'provider'),
    counter(I.queueDropped, 'dropped'),
    histogram(I.providerDuration, 'providerDuration'),
    histogram(I.proxyDuration, 'proxyDuration'),
  ];
}

/** What was counted, and zeros where an alert waits for the first event: of what was declared, and of the drops of all series whose traces
 *  can be dropped. */
function pointsOf({ statuses, hasTraces }: Series, which: Count): CounterPoint[] {
  const points: CounterPoint[] = [];
  for (const counts of statuses.values()) {
    const { attributes, startedAt, isDeclared, [which]: value } = counts;
    if (value > 0 || isDeclared || (which === 'dropped' && hasTraces)) points.push({ attributes, startedAt, value });
  }
  return points;
}
