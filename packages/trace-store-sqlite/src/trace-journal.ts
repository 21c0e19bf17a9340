import type { TraceRecord } from '@vitrine/traces/trace-record';
import type { TimeRange } from './time-range.ts';
import { addEntries } from './lineage-entries.ts';
import type { MeasuredTrace } from './rollup.ts';

/** Numbers of a trace in the journal. */
const NUMBERS = 12;
const TIMESTAMP = 3;
const CREATED_AT = 4;
const NO_TRACE: MeasuredTrace = {
  scope: 0,
  model: 0,
  credential: 0,
  timestamp: 0,
  createdAt: 0,
  status: 0,
  inputTokens: 0,
  outputTokens: 0,
  totalTokens: 0,
  costUsd: 0,
  latencyMs: 0,
  firstTokenUs: 0,
};

/** What the traces of a batch add to the roll-ups and to the segments of lineages, as it is kept until it is added: a row a batch, written in its transaction. */
export class JournalEntry {
  #numbers = new Float64Array(256 * NUMBERS);
  #at = 0;
  #lineages: number[] = [];

  get count(): number {
    return this.#at / NUMBERS;
  }

  add(scope: number, model: number, credential: number, record: TraceRecord): void {
    if (this.#at === this.#numbers.length) {
      const larger = new Float64Array(2 * this.#numbers.length);
      larger.set(this.#numbers);
      this.#numbers = larger;
    }
    const numbers = this.#numbers;
    numbers[this.#at++] = scope;
    numbers[this.#at++] = model;
    numbers[this.#at++] = credential;
    numbers[this.#at++] = record.timestamp;
    numbers[this.#at++] = record.created_at;
    numbers[this.#at++] = record.response_status;
    numbers[this.#at++] = record.input_tokens;
    numbers[this.#at++] = record.output_tokens;
    numbers[this.#at++] = record.total_tokens;
    numbers[this.#at++] = record.estimated_cost_usd;
    numbers[this.#at++] = record.latency_ms;
    numbers[this.#at++] = record.time_to_first_token_us;
    addEntries(this.#lineages, record.lineage, record.created_at);
  }

  clear(): void {
    this.#at = 0;
    this.#lineages = [];
  }

  /** What was added, as it is kept; valid until the next change. */
  bytes(): Uint8Array {
    return new Uint8Array(this.#numbers.buffer, 0, this.#at * Float64Array.BYTES_PER_ELEMENT);
  }

  /** The lineage ids of what was added, as they are kept. */
  lineages(): Float64Array {
    return Float64Array.from(this.#lineages);
  }
}

/** The numbers of a kept entry. SQLite's blobs begin a buffer of their own. */
export function numbersOf(bytes: Uint8Array): Float64Array {
  const own = bytes.byteOffset % Float64Array.BYTES_PER_ELEMENT === 0 ? bytes : bytes.slice();
  return new Float64Array(own.buffer, own.byteOffset, own.byteLength / Float64Array.BYTES_PER_ELEMENT);
}

/** The first and the last `timestamp` of an entry. */
export function timesOf(numbers: Float64Array): { readonly from: number; readonly to: number } {
  let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let at = TIMESTAMP; at < numbers.length; at += NUMBERS) {
    const timestamp = numbers[at] ?? 0;
    if (timestamp < from) from = timestamp;
    if (timestamp > to) to = timestamp;
  }
  return { from, to };
}

/** The traces of journal entries. There is one object for all of them, which changes when the next is read: making one each
 *  took half the time of reading. */
export function* readJournal(entries: Iterable<Float64Array>): Generator<Readonly<MeasuredTrace>> {
  const trace: { -readonly [Field in keyof MeasuredTrace]: number } = { ...NO_TRACE };
  for (const numbers of entries) {
    for (let at = 0; at < numbers.length; at += NUMBERS) {
      trace.scope = numbers[at] ?? 0;
      trace.model = numbers[at + 1] ?? 0;
      trace.credential = numbers[at + 2] ?? 0;
      trace.timestamp = numbers[at + TIMESTAMP] ?? 0;
      trace.createdAt = numbers[at + CREATED_AT] ?? 0;
      trace.status = numbers[at + 5] ?? 0;
      trace.inputTokens = numbers[at + 6] ?? 0;
      trace.outputTokens = numbers[at + 7] ?? 0;
      trace.totalTokens = numbers[at + 8] ?? 0;
      trace.costUsd = numbers[at + 9] ?? 0;
      trace.latencyMs = numbers[at + 10] ?? 0;
      trace.firstTokenUs = numbers[at + 11] ?? 0;
      yield trace;
    }
  }
}

/** Where in `traces` those of journal entries stand whose `timestamp` is from `from` to `to`; undefined: there are none. */
export function createdRange(entries: Iterable<Float64Array>, from: number, to: number): TimeRange | undefined {
  let [oldest, newest] = [Number.MAX_SAFE_INTEGER, -1];
  for (const numbers of entries) {
    for (let at = 0; at < numbers.length; at += NUMBERS) {
      const [timestamp, createdAt] = [numbers[at + TIMESTAMP] ?? 0, numbers[at + CREATED_AT] ?? 0];
      if (timestamp < from || timestamp > to) continue;
      if (createdAt < oldest) oldest = createdAt;
      if (createdAt > newest) newest = createdAt;
    }
  }
  return newest < 0 ? undefined : { oldest, newest };
}
