import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { BUCKETS, ENTRY_NUMBERS, spanningRange, placeOf } from './lineage-entries.ts';

/** Traces of a full segment: where traffic is dense, what the journal holds when it is added. */
export const SEGMENT_TRACES = 65_536;

/** Keeps which ids traces have, in segments that are written in bulk: an index of ids writes a page of its own for nearly every
 *  trace, because no two places are near each other. All inside the caller's transaction. */
export class LineageSegments {
  readonly #last: StatementSync;
  readonly #addSegment: StatementSync;
  readonly #addEntries: StatementSync;
  readonly #older: StatementSync;
  readonly #end: StatementSync;
  readonly #removeSegment: StatementSync;
  readonly #removeEntries: StatementSync;
  readonly #fullTraces: number;

  /** A segment that holds `fullTraces` grows no more. */
  constructor(database: DatabaseSync, fullTraces: number = SEGMENT_TRACES) {
    this.#fullTraces = fullTraces;
    this.#last = database.prepare('SELECT segment, traces FROM lineage_segments ORDER BY segment DESC LIMIT 1');
    this.#addSegment = database.prepare(
      `INSERT INTO lineage_segments VALUES (?,?,?,?) ON CONFLICT (segment) DO UPDATE SET
       traces = traces + excluded.traces, oldest = min(oldest, excluded.oldest), newest = max(newest, excluded.newest)`,
    );
    // Two blobs side by side are a text to SQLite, of the same bytes.
    this.#addEntries = database.prepare(
      'INSERT INTO lineages VALUES (?,?) ON CONFLICT (place) DO UPDATE SET entries = CAST(entries || excluded.entries AS BLOB)',
    );
    this.#end = database.prepare(
      'UPDATE lineage_segments SET traces = max(traces, ?) WHERE segment = (SELECT max(segment) FROM lineage_segments)',
    );
    this.#older = database.prepare('SELECT segment FROM lineage_segments WHERE newest < ?');
    this.#removeSegment = database.prepare('DELETE FROM lineage_segments WHERE segment = ?');
    this.#removeEntries = database.prepare('DELETE FROM lineages WHERE place BETWEEN ? AND ?');
  }

  /** Adds the entries of so many traces. */
  add(entries: readonly Float64Array[], traces: number): void {
    const buckets = bucketsOf(entries);
    if (buckets.length === 0) return;
    const last = this.#last.get() as { segment: number; traces: number } | undefined;
    const isFull = last === undefined || last.traces >= this.#fullTraces;
    const segment = (last?.segment ?? 0) + (isFull ? 1 : 0);
    const { oldest, newest } = spanningRange(entries);
    this.#addSegment.run(segment, traces, oldest, newest);
    for (const bucket of buckets) this.#addEntries.run(placeOf(segment, bucket[0] ?? 0), bucket);
  }

  /** Lets the last segment grow no more. */
  end(): void {
    this.#end.run(this.#fullTraces);
  }

  /** Removes the segments all of whose traces were made before. */
  removeOlderThan(createdBeforeMs: number): void {
    for (const row of this.#older.all(createdBeforeMs)) {
      const segment = Number(row['segment']);
      this.#removeSegment.run(segment);
      this.#removeEntries.run(placeOf(segment, 0), placeOf(segment, BUCKETS - 1));
    }
  }
}

/** The entries of each bucket that has some, in the order of buckets. */
function bucketsOf(entries: readonly Float64Array[]): Float64Array[] {
  const buckets = Array.from({ length: BUCKETS }, (): number[] => []);
  for (const some of entries) {
    for (let at = 0; at < some.length; at += ENTRY_NUMBERS) {
      const hash = some[at] ?? 0;
      buckets[placeOf(0, hash)]?.push(hash, some[at + 1] ?? 0);
    }
  }
  return buckets.filter(({ length }) => length > 0).map((bucket) => Float64Array.from(bucket));
}
