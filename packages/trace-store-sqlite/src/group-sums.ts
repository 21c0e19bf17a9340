import { addLatency, bucketOf, type LatencyCounts } from '@vitrine/traces/latency-histogram';
import { bucketStartOf, routeOf, type Measure, type MeasureQuery } from '@vitrine/traces/trace-analytics';
import { MeasureRows, type MeasuredSums } from './measure-rows.ts';
import type { ReadDictionary } from './read-dictionary.ts';
import type { RollupCursor } from './rollup-block.ts';
import type { MeasuredTrace } from './rollup.ts';

/** Rows that an answer may have. */
export const ANSWER_ROWS_MAX = 100_000;

interface Numbers {
  readonly scope: number;
  readonly model: number;
  readonly credential: number;
}

interface Bucket {
  readonly start: number;
  /** By the place of their name. */
  readonly rows: Map<number, number>;
}

/** The sums that a question asks for, while they are added up. */
export class GroupSums {
  readonly #question: MeasureQuery;
  readonly #dictionary: ReadDictionary;
  readonly #rows = new MeasureRows();
  readonly #latencies: LatencyCounts[] = [];
  readonly #allowed = new Map<number, boolean>();
  readonly #buckets = new Map<number, Bucket>();
  readonly #names: string[] = [];
  readonly #placeOfName = new Map<string, number>();
  /** By the number that groups go by: several numbers can have one name. */
  readonly #placeOfNumber = new Map<number, number>();
  #lastBucket: Bucket | undefined;

  constructor(question: MeasureQuery, dictionary: ReadDictionary) {
    this.#question = question;
    this.#dictionary = dictionary;
  }

  /** Whether there are more rows than an answer may have. */
  get isTooMany(): boolean {
    return this.#rows.count > ANSWER_ROWS_MAX;
  }

  /** Adds the roll-up that the cursor is at, of what began at `start`. */
  addRollup(start: number, cursor: RollupCursor): void {
    const row = this.#rowOf(start, cursor);
    if (row === undefined) return;
    if (this.#question.usageOnly === true) this.#rows.addUsage(row, cursor.usage());
    else this.#rows.add(row, cursor.sums());
    if (this.#question.percentiles === true) cursor.addLatenciesTo(this.#latenciesOf(row));
  }

  /** Adds sums of traces, and their latencies where percentiles are asked for. */
  addSums(at: number, numbers: Partial<Numbers>, sums: MeasuredSums, latenciesMs: readonly number[]): void {
    const row = this.#rowOf(at, numbers);
    if (row === undefined) return;
    this.#rows.add(row, sums);
    for (const latencyMs of latenciesMs) addLatency(this.#latenciesOf(row), bucketOf(latencyMs), 1);
  }

  addTrace(trace: Readonly<MeasuredTrace>): void {
    const row = this.#rowOf(trace.timestamp, trace);
    if (row === undefined) return;
    this.#rows.addTrace(row, trace);
    if (this.#question.percentiles === true) addLatency(this.#latenciesOf(row), bucketOf(trace.latencyMs), 1);
  }

  /** Ordered by bucket, then by group. To be asked for once. */
  measures(): Measure[] {
    const names = this.#names.toSorted((left, right) => (left < right ? -1 : 1));
    const rankOf = new Map(names.map((name, rank) => [name, rank]));
    // Names are compared once, and not again in every bucket: they are in hundreds of them.
    const ranks = this.#names.map((name) => rankOf.get(name) ?? 0);
    const measures: Measure[] = [];
    for (const { rows } of [...this.#buckets.values()].toSorted((left, right) => left.start - right.start)) {
      for (const place of [...rows.keys()].toSorted((left, right) => (ranks[left] ?? 0) - (ranks[right] ?? 0))) {
        const row = rows.get(place) ?? 0;
        if (this.#question.percentiles === true) this.#rows.setPercentiles(row, this.#latenciesOf(row));
        measures.push(this.#rows.measure(row, this.#names[place] ?? ''));
      }
    }
    return measures;
  }

  #latenciesOf(row: number): LatencyCounts {
    return (this.#latencies[row] ??= []);
  }

  /** Where traces of these numbers are added up; undefined when they are not asked for. */
  #rowOf(at: number, numbers: Partial<Numbers>): number | undefined {
    if (!this.#allows(numbers.model ?? 0)) return undefined;
    const { groupBy } = this.#question;
    const place = this.#placeOf(
      (groupBy === 'key' ? numbers.scope : groupBy === 'api_key_hash' ? numbers.credential : numbers.model) ?? 0,
    );
    const bucket = this.#bucketOf(at);
    const known = bucket.rows.get(place);
    if (known !== undefined) return known;
    const row = this.#rows.make(bucket.start);
    bucket.rows.set(place, row);
    return row;
  }

  #bucketOf(at: number): Bucket {
    const { bucket: length } = this.#question;
    const start = length === undefined ? 0 : bucketStartOf(at, length);
    if (this.#lastBucket?.start === start) return this.#lastBucket;
    const bucket = this.#buckets.get(start) ?? { start, rows: new Map<number, number>() };
    this.#buckets.set(start, bucket);
    this.#lastBucket = bucket;
    return bucket;
  }

  #placeOf(number: number): number {
    const known = this.#placeOfNumber.get(number);
    if (known !== undefined) return known;
    const name = this.#nameOf(number);
    const place = this.#placeOfName.get(name) ?? this.#names.push(name) - 1;
    this.#placeOfName.set(name, place);
    this.#placeOfNumber.set(number, place);
    return place;
  }

  #allows(model: number): boolean {
    const { provider, model: name } = this.#question;
    if (provider === undefined && name === undefined) return true;
    const known = this.#allowed.get(model);
    if (known !== undefined) return known;
    const meaning = this.#dictionary.model(model);
    const allowed = (provider ?? meaning.provider) === meaning.provider && (name ?? meaning.name) === meaning.name;
    this.#allowed.set(model, allowed);
    return allowed;
  }

  #nameOf(number: number): string {
    const dictionary = this.#dictionary;
    switch (this.#question.groupBy) {
      case 'provider':
        return dictionary.model(number).provider;
      case 'model':
        return dictionary.model(number).name;
      case 'route':
        return routeOf(dictionary.model(number).provider);
      case 'key':
        return dictionary.scope(number).gateway_key_id;
      case 'api_key_hash':
        return dictionary.credential(number);
      case undefined:
      default:
        return '';
    }
  }
}
