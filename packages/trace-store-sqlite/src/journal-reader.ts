import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { numbersOf, timesOf } from './trace-journal.ts';

interface KeptEntry {
  readonly batch: number;
  readonly numbers: Float64Array;
  /** The first and the last `timestamp`. */
  readonly from: number;
  readonly to: number;
}

/** Reads the journal, each of its entries once: they are 6 MB when it is full, and every question wants them. */
export class JournalReader {
  readonly #first: StatementSync;
  readonly #entries: StatementSync;
  #kept: KeptEntry[] = [];

  constructor(database: DatabaseSync) {
    this.#first = database.prepare('SELECT min(batch) AS batch FROM journal');
    this.#entries = database.prepare('SELECT batch, traces FROM journal WHERE batch = ? OR batch > ? ORDER BY batch');
  }

  /** Entries that can hold traces whose `timestamp` is from `from` to `to`, both inclusive. To be called in a transaction. */
  between(from: number = Number.NEGATIVE_INFINITY, to: number = Number.POSITIVE_INFINITY): Float64Array[] {
    this.#readOn();
    return this.#kept.filter((entry) => entry.from <= to && entry.to >= from).map(({ numbers }) => numbers);
  }

  /** No trace of the journal whose `timestamp` is `from` or later has an earlier one than this; infinity when there is none. To be called
   *  in a transaction. */
  earliest(from: number = Number.NEGATIVE_INFINITY): number {
    this.#readOn();
    return this.#kept.reduce((least, entry) => (entry.to < from ? least : Math.min(least, entry.from)), Number.POSITIVE_INFINITY);
  }

  /** The last batch that was added to the roll-ups, 0 before the first: whatever adds to them changes it. To be called in a transaction. */
  addedBatch(): number {
    this.#readOn();
    const [first] = this.#kept;
    return first?.numbers.length === 0 ? first.batch : 0;
  }

  /** Numbers of batches rise for ever. Of those that were added to the roll-ups, only the last stays, emptied: so the first one that
   *  is there is read every time, what is before it is gone, and what is after it is what it was. */
  #readOn(): void {
    const first = Number(this.#first.get()?.['batch'] ?? Number.MAX_SAFE_INTEGER);
    this.#kept = this.#kept.filter(({ batch }) => batch > first);
    const last = this.#kept.at(-1)?.batch ?? first;
    for (const { batch, traces } of this.#entries.all(first, last)) {
      const numbers = numbersOf(traces as Uint8Array);
      const entry = { batch: Number(batch), numbers, ...timesOf(numbers) };
      if (entry.batch === first) this.#kept.unshift(entry);
      else this.#kept.push(entry);
    }
  }
}
