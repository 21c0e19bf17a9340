import { addLatency, bucketOf, type LatencyCounts } from '@vitrine/traces/latency-histogram';
import { bucketStartOf } from '@vitrine/traces/time-buckets';
import { MEASURE_PARTS, MEASURES_MAX, needsPercentiles, routeOf, type MeasureQuery } from '@vitrine/traces/trace-measures';
import { MeasureRows, type MeasuredSums } from './measure-rows.ts';
import type { MeasureTable } from './measure-table.ts';
import type { ReadDictionary } from './read-dictionary.ts';
import type { RollupCursor } from './rollup-block.ts';
import type { MeasuredTrace } from './rollup.ts';

interface Numbers {
  readonly scope: number;
  readonly model: number;
  readonly credential: number;
}

interface Bucket {
  readonly start: number;
  /** By the place of their group's name. */
  readonly rows: Map<number, number>;
}

/** The sums of a query, while they are added up. */
export class GroupSums {
  readonly #query: MeasureQuery;
  readonly #isUsageOnly: boolean;
  readonly #hasPercentiles: boolean;
  readonly #dictionary: ReadDictionary;
  readonly #rows: MeasureRows;
  readonly #latencies: LatencyCounts[] = [];
  readonly #allowed = new Map<number, boolean>();
  readonly #buckets = new Map<number, Bucket>();
  readonly #names: string[] = [];
  readonly #placeOfName = new Map<string, number>();
  /** By the number that groups go by: several numbers can have one name. */
  readonly #placeOfNumber = new Map<number, number>();
  #lastBucket: Bucket | undefined;

  constructor(query: MeasureQuery, dictionary: ReadDictionary) {
    this.#query = query;
    const { parts = MEASURE_PARTS } = query;
    this.#isUsageOnly = parts.every((part) => part === 'tokens' || part === 'cost');
    this.#hasPercentiles = needsPercentiles(query);
    this.#rows = new MeasureRows(this.#isUsageOnly);
    this.#dictionary = dictionary;
  }

  /** Whether there are more rows than a result may have. */
  get isTooMany(): boolean {
    return this.#rows.count > MEASURES_MAX;
  }

  /** Adds the roll-up that the cursor is at, of what began at `start`. */
  addRollup(start: number, cursor: RollupCursor): void {
    const row = this.#rowOf(start, cursor);
    if (row === undefined) return;
    if (this.#isUsageOnly) this.#rows.addUsage(row, cursor.usage());
    else this.#rows.add(row, cursor.sums());
    if (this.#hasPercentiles) cursor.addLatenciesTo(this.#latenciesOf(row));
  }

  /** Adds sums of traces, and their latencies where the query has percentiles. */
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
    if (this.#hasPercentiles) addLatency(this.#latenciesOf(row), bucketOf(trace.latencyMs), 1);
  }

  /** Undefined when there are more rows than a result may have. To be called once. */
  table(): MeasureTable | undefined {
    if (this.isTooMany) return undefined;
    // Names are compared once, and not again in every bucket: they are in hundreds of them.
    const places = [...this.#names.keys()].toSorted((left, right) => (this.#nameAt(left) < this.#nameAt(right) ? -1 : 1));
    const ranks = new Uint32Array(places.length);
    for (const [rank, place] of places.entries()) ranks[place] = rank;
    const order = new Uint32Array(this.#rows.count);
    let at = 0;
    for (const { rows } of [...this.#buckets.values()].toSorted((left, right) => left.start - right.start)) {
      const sorted = Uint32Array.from(rows.keys(), (place) => ranks[place] ?? 0).toSorted();
      for (const rank of sorted) order[at++] = rows.get(places[rank] ?? 0) ?? 0;
    }
    if (this.#hasPercentiles) for (const row of order) this.#rows.setPercentiles(row, this.#latenciesOf(row));
    const { numbers, rowLength } = this.#rows;
    return { numbers, rowLength, order, groups: this.#names };
  }

  #nameAt(place: number): string {
    return this.#names[place] ?? '';
  }

  #latenciesOf(row: number): LatencyCounts {
    return (this.#latencies[row] ??= []);
  }

  /** The row of traces with these numbers; undefined when the query does not select them. */
  #rowOf(at: number, numbers: Partial<Numbers>): number | undefined {
    if (!this.#allows(numbers.model ?? 0)) return undefined;
    const { groupBy } = this.#query;
    const place = this.#placeOf(
      (groupBy === 'key' ? numbers.scope : groupBy === 'api_key_hash' ? numbers.credential : numbers.model) ?? 0,
    );
    const bucket = this.#bucketOf(at);
    const known = bucket.rows.get(place);
    if (known !== undefined) return known;
    const row = this.#rows.make(bucket.start, place);
    bucket.rows.set(place, row);
    return row;
  }

  #bucketOf(at: number): Bucket {
    const { bucket: length } = this.#query;
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
    const { provider, model: name } = this.#query;
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
    switch (this.#query.groupBy) {
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
