import type { HrTime } from '@opentelemetry/api';
import { millisToHrTime } from '@opentelemetry/core';
import { BoundedNames, labelOf, OTHER, UNKNOWN } from './bounded-names.ts';
import { DurationSeries } from './duration-series.ts';
import { GATEWAY_INSTRUMENTS } from './instruments.ts';

/** Model names that get a label of their own. */
const MAX_MODELS = 256;
/** Sets of labels that get series of their own; each is two histograms and some counters. */
const MAX_SERIES = 4_096;
/** Counters over all series: one for each status that a series has seen. */
const MAX_COUNTERS = 16_384;
/** Stands for the statuses that have no room. */
const MANY = -1;
/** The status of what is declared. */
const DECLARED_STATUS = 200;
/** Above everything the table can hold, so that the SDK never folds points together by itself. */
export const CARDINALITY_LIMIT = MAX_COUNTERS + MAX_SERIES;

/** Whose request it was and where it went; what is missing is `unknown`. */
export interface RequestLabels {
  readonly provider: string | undefined;
  readonly model: string | undefined;
  readonly org_id: string | undefined;
  readonly workspace_id: string | undefined;
  /** `/openai/*`, `/anthropic/*`, `/api/*` or `/other`. */
  readonly route: string;
}

type Attributes = Readonly<Record<string, string | number>>;

/** What was counted for one set of labels and one status. */
export interface StatusCounts {
  readonly attributes: Attributes;
  readonly startTime: HrTime;
  /** Whether it is told at 0 too, because it was declared. */
  readonly isDeclared: boolean;
  proxy: number;
  provider: number;
  dropped: number;
}

/** Everything recorded under one set of labels. */
export interface Series {
  readonly attributes: Attributes;
  /** Whether it is of requests for a provider, whose traces can be dropped. */
  readonly hasTraces: boolean;
  readonly statuses: Map<number, StatusCounts>;
  readonly proxyDuration: DurationSeries;
  readonly providerDuration: DurationSeries;
}

/** The sets of labels that requests were seen with. A set's attributes are made once: making and hashing them anew cost more than
 *  everything else that is recorded of a request. */
export class RequestSeries {
  readonly models = new BoundedNames(MAX_MODELS);
  /** Requests that were counted under `other` labels because the table was full. */
  collapsed = 0;
  /** By the labels as they are recorded, */
  readonly #byLabels = new Map<string, Series>();
  /** and by what callers pass, which is looked up for every request. */
  readonly #byKey = new Map<string, Series>();
  readonly #clock: () => number;
  #counters = 0;

  /** `clock`: milliseconds since the epoch. */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** The series of a request. `isProven`: the provider has accepted the model. */
  of(labels: RequestLabels, isProven: boolean): Series {
    const model = this.models.labelOf(labels.model, isProven);
    const key = `${labels.provider}\n${labels.route}\n${labels.org_id}\n${labels.workspace_id}\n${model}`;
    return this.#byKey.get(key) ?? this.#added(key, labels, model);
  }

  /** From now on a provider's counters exist, at 0, before its first request: a rate sees no increase in a series that begins above 0. */
  declare(provider: string, route: string): void {
    const series = this.of({ provider, model: undefined, org_id: undefined, workspace_id: undefined, route }, false);
    if (!series.statuses.has(DECLARED_STATUS)) this.#addCounts(series, DECLARED_STATUS, true);
  }

  /** The counts of one status in a series; 0 for a status that is not known. */
  counts(series: Series, status: number): StatusCounts {
    const known = series.statuses.get(status);
    if (known !== undefined) return known;
    const isFull = this.#counters >= MAX_COUNTERS;
    if (isFull && status !== MANY) return this.counts(series, MANY);
    return this.#addCounts(series, status, false);
  }

  /** All series. */
  series(): Iterable<Series> {
    return this.#byLabels.values();
  }

  #addCounts(series: Series, status: number, isDeclared: boolean): StatusCounts {
    this.#counters += 1;
    const label = status === 0 ? UNKNOWN : status === MANY ? OTHER : status;
    const attributes = { ...series.attributes, status_code: label };
    const startTime = millisToHrTime(this.#clock());
    const counts = { attributes, startTime, isDeclared, proxy: 0, provider: 0, dropped: 0 };
    series.statuses.set(status, counts);
    return counts;
  }

  #added(key: string, labels: RequestLabels, model: string): Series {
    const full = [labelOf(labels.provider), model, labelOf(labels.org_id), labelOf(labels.workspace_id), labels.route];
    const series = this.#byLabels.get(full.join('\n')) ?? this.#made(full);
    if (this.#byKey.size < MAX_SERIES) this.#byKey.set(key, series);
    return series;
  }

  #made(full: readonly string[]): Series {
    const isFull = this.#byLabels.size >= MAX_SERIES;
    if (isFull) this.collapsed += 1;
    const [provider = UNKNOWN, model = UNKNOWN, org_id = UNKNOWN, workspace_id = UNKNOWN, route = UNKNOWN] = full;
    const attributes = isFull
      ? { provider, model: OTHER, org_id: OTHER, workspace_id: OTHER, route }
      : { provider, model, org_id, workspace_id, route };
    const key = Object.values(attributes).join('\n');
    const existing = this.#byLabels.get(key);
    if (existing !== undefined) return existing;
    const now = this.#clock();
    const series: Series = {
      attributes,
      hasTraces: provider !== UNKNOWN,
      statuses: new Map(),
      proxyDuration: new DurationSeries(attributes, GATEWAY_INSTRUMENTS.proxyDuration.buckets, now),
      providerDuration: new DurationSeries(attributes, GATEWAY_INSTRUMENTS.providerDuration.buckets, now),
    };
    this.#byLabels.set(key, series);
    return series;
  }
}
