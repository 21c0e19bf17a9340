import { BoundedNames, labelOf, OTHER, UNKNOWN } from '@vitrine/telemetry/metrics/bounded-names';
import { DurationSeries } from '@vitrine/telemetry/metrics/duration-series';
import type { Instrument, MetricAttributes } from '@vitrine/telemetry/metrics/instrument';
import { SeriesTable } from '@vitrine/telemetry/metrics/series-table';
import { REQUEST_INSTRUMENTS } from './instruments.ts';
import { counterData, histogramData, type CounterPoint } from '@vitrine/telemetry/metrics/metric-data';

/** Model names that get a label of their own. */
const MAX_MODELS = 256;
/** Sets of labels that get series of their own; each is two histograms and some counters. */
const MAX_SERIES = 4_096;
/** Counters over all series: one for each status that a series has seen. */
const MAX_COUNTERS = 16_384;
/** Stands for the statuses beyond `MAX_COUNTERS`. */
const OTHER_STATUS = -1;
/** The status of a declared series. */
const DECLARED_STATUS = 200;

/** Tenant, model and route of a request; missing values are `unknown`. */
export interface RequestLabels {
  readonly provider: string | undefined;
  readonly model: string | undefined;
  readonly org_id: string | undefined;
  readonly workspace_id: string | undefined;
  /** `/openai/*`, `/anthropic/*`, `/api/*` or `/other`. */
  readonly route: string;
}

/** The counters of one set of labels and one status. */
interface StatusCounts {
  readonly attributes: MetricAttributes;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Whether it is also exported at 0, because it was declared. */
  readonly isDeclared: boolean;
  proxy: number;
  provider: number;
  dropped: number;
}

/** Everything recorded under one set of labels. */
interface Series {
  readonly attributes: MetricAttributes;
  /** Whether it counts requests for a provider, whose traces can be dropped. */
  readonly hasTraces: boolean;
  readonly statuses: Map<number, StatusCounts>;
  readonly proxyDuration: DurationSeries;
  readonly providerDuration: DurationSeries;
}

/** The series of requests, by their labels. */
export class RequestSeries extends SeriesTable<Series> {
  readonly models = new BoundedNames(MAX_MODELS);
  readonly #clock: () => number;
  #counters = 0;

  /** `clock`: milliseconds since the epoch. */
  constructor(clock: () => number) {
    const make = (attributes: MetricAttributes) => createSeries(attributes, clock());
    super({ capacity: MAX_SERIES, collapsible: ['model', 'org_id', 'workspace_id'], make });
    this.#clock = clock;
  }

  /** The series of a request. `isProven`: the provider has accepted the model. */
  of(labels: RequestLabels, isProven: boolean): Series {
    const model = this.models.labelOf(labels.model, isProven);
    const key = [labels.provider, labels.route, labels.org_id, labels.workspace_id, model];
    return this.get(key) ?? this.add(key, attributesOf(labels, model));
  }

  /** Creates a provider's counters at 0 before its first request, because a rate sees no increase in a series that begins above 0. */
  declare(provider: string, route: string): void {
    const series = this.of({ provider, model: undefined, org_id: undefined, workspace_id: undefined, route }, false);
    if (!series.statuses.has(DECLARED_STATUS)) this.#addCounts(series, DECLARED_STATUS, true);
  }

  /** The counts of one status in a series; 0 for a status that is not known. */
  counts(series: Series, status: number): StatusCounts {
    const known = series.statuses.get(status);
    if (known !== undefined) return known;
    const isFull = this.#counters >= MAX_COUNTERS;
    if (isFull && status !== OTHER_STATUS) return this.counts(series, OTHER_STATUS);
    return this.#addCounts(series, status, false);
  }

  #addCounts(series: Series, status: number, isDeclared: boolean): StatusCounts {
    this.#counters += 1;
    const label = status === 0 ? UNKNOWN : status === OTHER_STATUS ? OTHER : status;
    const attributes = { ...series.attributes, status_code: label };
    const counts = { attributes, startedAt: this.#clock(), isDeclared, proxy: 0, provider: 0, dropped: 0 };
    series.statuses.set(status, counts);
    return counts;
  }
}

function createSeries(attributes: MetricAttributes, now: number): Series {
  return {
    attributes,
    hasTraces: attributes['provider'] !== UNKNOWN,
    statuses: new Map(),
    proxyDuration: new DurationSeries(attributes, REQUEST_INSTRUMENTS.proxyDuration.buckets, now),
    providerDuration: new DurationSeries(attributes, REQUEST_INSTRUMENTS.providerDuration.buckets, now),
  };
}

function attributesOf({ provider, org_id, workspace_id, route }: RequestLabels, model: string): MetricAttributes {
  return { provider: labelOf(provider), model, org_id: labelOf(org_id), workspace_id: labelOf(workspace_id), route };
}

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
    counter(REQUEST_INSTRUMENTS.proxyRequests, 'proxy'),
    counter(REQUEST_INSTRUMENTS.providerRequests, 'provider'),
    counter(REQUEST_INSTRUMENTS.queueDropped, 'dropped'),
    histogram(REQUEST_INSTRUMENTS.providerDuration, 'providerDuration'),
    histogram(REQUEST_INSTRUMENTS.proxyDuration, 'proxyDuration'),
  ];
}

/** The counts, including zeros that alerts need before the first event: declared counters, and drops in every series whose traces can be dropped. */
function pointsOf({ statuses, hasTraces }: Series, which: Count): CounterPoint[] {
  const points: CounterPoint[] = [];
  for (const counts of statuses.values()) {
    const { attributes, startedAt, isDeclared, [which]: value } = counts;
    if (value > 0 || isDeclared || (which === 'dropped' && hasTraces)) points.push({ attributes, startedAt, value });
  }
  return points;
}
