import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { numbersOf, timesOf } from './trace-journal.ts';

interface KeptEntry {
  readonly batch: number;
  readonly numbers: Float64Array;
  /** The first and the last `timestamp`. */
  readonly from: number;
  readonly to: number;
}

/** Reads the journal, each of its entries once: they are 6 MB when it is full, and every query needs them. */
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
