import { addLatency, bucketOf, percentileOf, type LatencyCounts } from '../latency-histogram.ts';
import { bucketStartOf, routeOf, type MeasureQuestion } from '../trace-analytics.ts';
import { PLACES, ROW, type PackedMeasures } from './packed-measures.ts';
import type { ReadDictionary } from './read-dictionary.ts';
import type { RollupCursor } from './rollup-block.ts';
import type { MeasuredTrace, Sums } from './rollup.ts';

/** Rows that an answer may have. */
const ROWS_MAX = 100_000;
const FIRST_ROWS = 64;

interface Numbers {
  readonly scope: number;
  readonly model: number;
  readonly credential: number;
}

/** What an answer tells of sums. */
type MeasuredSums = Readonly<Omit<Sums, 'tokensMin' | 'tokensMax' | 'oldest' | 'newest'>>;

/** The rows of one bucket, by the number that groups go by, and by name: several numbers can have one name. */
interface BucketRows {
  readonly byNumber: Map<number, number>;
  readonly byName: Map<string, number>;
}

/** The sums that a question asks for, while they are added up. They are rows of one array: an object for each would be seventeen
 *  numbers on the heap. */
export class GroupSums {
  readonly #question: MeasureQuestion;
  readonly #dictionary: ReadDictionary;
  readonly #allowed = new Map<number, boolean>();
  readonly #buckets = new Map<number, BucketRows>();
  readonly #names = new Map<string, number>();
  readonly #latencies: LatencyCounts[] = [];
  #rows = new Float64Array(FIRST_ROWS * ROW);
  #count = 0;
  #lastBucket: { readonly start: number; readonly rows: BucketRows } | undefined;

  constructor(question: MeasureQuestion, dictionary: ReadDictionary) {
    this.#question = question;
    this.#dictionary = dictionary;
  }

  /** Whether there are more rows than an answer may have. */
  get isTooMany(): boolean {
    return this.#count > ROWS_MAX;
  }

  /** Adds the roll-up that the cursor is at, of what began at `start`. */
  addRollup(start: number, cursor: RollupCursor): void {
    const row = this.#rowOf(start, cursor);
    if (row === undefined) return;
    this.#add(row, cursor.sums());
    if (this.#question.percentiles === true) cursor.addLatenciesTo(this.#latenciesOf(row));
  }

  addSums(at: number, numbers: Partial<Numbers>, sums: MeasuredSums): void {
    const row = this.#rowOf(at, numbers);
    if (row !== undefined) this.#add(row, sums);
  }

  addLatency(at: number, numbers: Partial<Numbers>, latencyMs: number, count: number): void {
    const row = this.#rowOf(at, numbers);
    if (row !== undefined) addLatency(this.#latenciesOf(row), bucketOf(latencyMs), count);
  }

  addTrace(trace: Readonly<MeasuredTrace>): void {
    const row = this.#rowOf(trace.timestamp, trace);
    if (row === undefined) return;
    this.#addOne(row, trace);
    if (this.#question.percentiles === true) addLatency(this.#latenciesOf(row), bucketOf(trace.latencyMs), 1);
  }

  /** Ordered by bucket, then by group. */
  measures(): PackedMeasures {
    const buckets = [...this.#buckets].toSorted(([left], [right]) => left - right);
    const ordered = buckets.flatMap(([, { byName }]) =>
      [...byName].toSorted(([left], [right]) => (left < right ? -1 : 1)).map(([, row]) => row),
    );
    const numbers = new Float64Array(ordered.length * ROW);
    for (const [place, row] of ordered.entries()) {
      if (this.#question.percentiles === true) this.#setPercentiles(row);
      numbers.set(this.#rows.subarray(row, row + ROW), place * ROW);
    }
    return { groups: [...this.#names.keys()], numbers };
  }

  #add(row: number, sums: MeasuredSums): void {
    const rows = this.#rows;
    const add = (place: number, value: number) => void (rows[row + place] = (rows[row + place] ?? 0) + value);
    add(PLACES.requests, sums.requests);
    add(PLACES.errors4xx, sums.errors4xx);
    add(PLACES.errors5xx, sums.errors5xx);
    add(PLACES.inputTokens, sums.inputTokens);
    add(PLACES.outputTokens, sums.outputTokens);
    add(PLACES.totalTokens, sums.totalTokens);
    add(PLACES.costUsd, sums.costUsd);
    add(PLACES.latencyMs, sums.latencyMs);
    add(PLACES.streams, sums.streams);
    add(PLACES.firstTokenUs, sums.firstTokenUs);
    this.#widen(row, sums.latencyMsMin, sums.latencyMsMax, sums.lastActive);
  }

  #addOne(row: number, trace: Readonly<MeasuredTrace>): void {
    const rows = this.#rows;
    const add = (place: number, value: number) => void (rows[row + place] = (rows[row + place] ?? 0) + value);
    add(PLACES.requests, 1);
    if (trace.status >= 500) add(PLACES.errors5xx, 1);
    else if (trace.status >= 400) add(PLACES.errors4xx, 1);
    add(PLACES.inputTokens, trace.inputTokens);
    add(PLACES.outputTokens, trace.outputTokens);
    add(PLACES.totalTokens, trace.totalTokens);
    add(PLACES.costUsd, trace.costUsd);
    add(PLACES.latencyMs, trace.latencyMs);
    if (trace.firstTokenUs > 0) add(PLACES.streams, 1);
    add(PLACES.firstTokenUs, trace.firstTokenUs);
    this.#widen(row, trace.latencyMs, trace.latencyMs, trace.timestamp);
  }

  #widen(row: number, latencyMsMin: number, latencyMsMax: number, lastActive: number): void {
    const rows = this.#rows;
    const [min, max, last] = [row + PLACES.latencyMsMin, row + PLACES.latencyMsMax, row + PLACES.lastActive];
    if (latencyMsMin < (rows[min] ?? 0)) rows[min] = latencyMsMin;
    if (latencyMsMax > (rows[max] ?? 0)) rows[max] = latencyMsMax;
    if (lastActive > (rows[last] ?? 0)) rows[last] = lastActive;
  }

  #setPercentiles(row: number): void {
    const [min, max] = [this.#rows[row + PLACES.latencyMsMin] ?? 0, this.#rows[row + PLACES.latencyMsMax] ?? 0];
    const shares = [
      [PLACES.p50Ms, 0.5],
      [PLACES.p95Ms, 0.95],
      [PLACES.p99Ms, 0.99],
    ] as const;
    for (const [place, share] of shares)
      this.#rows[row + place] = Math.min(Math.max(percentileOf(this.#latenciesOf(row), share), min), max);
  }

  #latenciesOf(row: number): LatencyCounts {
    return (this.#latencies[row / ROW] ??= []);
  }

  /** Where traces of these numbers are added up; undefined when they are not asked for. */
  #rowOf(at: number, numbers: Partial<Numbers>): number | undefined {
    if (!this.#allows(numbers.model ?? 0)) return undefined;
    const { bucket, groupBy } = this.#question;
    const start = bucket === undefined ? 0 : bucketStartOf(at, bucket);
    const { byNumber, byName } = this.#rowsOf(start);
    const number = (groupBy === 'key' ? numbers.scope : groupBy === 'api_key_hash' ? numbers.credential : numbers.model) ?? 0;
    const known = byNumber.get(number);
    if (known !== undefined) return known;
    const name = this.#nameOf(number);
    const row = byName.get(name) ?? this.#newRow(start, name);
    byName.set(name, row);
    byNumber.set(number, row);
    return row;
  }

  #rowsOf(start: number): BucketRows {
    if (this.#lastBucket?.start === start) return this.#lastBucket.rows;
    const rows = this.#buckets.get(start) ?? { byNumber: new Map(), byName: new Map() };
    this.#buckets.set(start, rows);
    this.#lastBucket = { start, rows };
    return rows;
  }

  #newRow(bucketStart: number, name: string): number {
    const row = this.#count * ROW;
    this.#count += 1;
    if (row === this.#rows.length) {
      const larger = new Float64Array(2 * row);
      larger.set(this.#rows);
      this.#rows = larger;
    }
    const place = this.#names.get(name) ?? this.#names.size;
    this.#names.set(name, place);
    this.#rows[row + PLACES.group] = place;
    this.#rows[row + PLACES.bucketStart] = bucketStart;
    this.#rows[row + PLACES.latencyMsMin] = Number.MAX_SAFE_INTEGER;
    return row;
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
