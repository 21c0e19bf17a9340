import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { hashesOf, spanningRange, placeOf, timesWith, type LineageIds } from './lineage-entries.ts';
import { newestFirst } from './newest-first.ts';
import type { TimeRange } from './time-range.ts';
import { numbersOf } from './trace-journal.ts';

/** Traces between two matches that are read too: a search of its own for each match takes longer. With 16, finding six in a thread
 *  of 500,000 took 1.6 s instead of 0.7. */
const SKIPPED_MAX = 64;

/** So many traces of a time. */
interface Traces extends TimeRange {
  readonly traces: number;
}

interface Segment extends Traces {
  readonly segment: number;
}

/** Finds out from the segments where in `traces` those with some lineage ids can be. */
export class LineageTimeRanges {
  readonly #segments: StatementSync;
  readonly #entries: StatementSync;
  readonly #journal: StatementSync;

  constructor(database: DatabaseSync) {
    this.#segments = database.prepare('SELECT * FROM lineage_segments WHERE newest >= ?');
    this.#entries = database.prepare('SELECT entries FROM lineages WHERE place = ?');
    this.#journal = database.prepare('SELECT count, lineages FROM journal');
  }

  /** Where traces with all of the ids can be, newest first and disjoint. Reads the journal and a row of each segment,
   *  as far as the caller iterates; where little is found that is all of them, 76 for five million traces. */
  *find(filter: LineageIds, within: TimeRange): Generator<TimeRange> {
    const hashes = hashesOf(filter);
    const look = (segment: Segment) => timeRangesOf(hashes, (hash) => this.#entriesOf(segment, hash), segment);
    const segments = this.#segments.all(within.oldest).map((row) => ({
      segment: Number(row['segment']),
      traces: Number(row['traces']),
      oldest: Number(row['oldest']),
      newest: Number(row['newest']),
    }));
    for (const range of newestFirst(segments, look, this.#ofJournal(hashes), within.newest)) {
      if (range.newest < within.oldest) return;
      yield range;
    }
  }

  #entriesOf({ segment }: Segment, hash: number): Float64Array[] {
    return this.#entries.all(placeOf(segment, hash)).map(({ entries }) => numbersOf(entries as Uint8Array));
  }

  #ofJournal(hashes: readonly number[]): TimeRange[] {
    const rows = this.#journal.all();
    const entries = rows.map(({ lineages }) => numbersOf(lineages as Uint8Array));
    const traces = rows.reduce((sum, { count }) => sum + Number(count), 0);
    return timeRangesOf(hashes, () => entries, { traces, ...spanningRange(entries) });
  }
}

type EntriesOf = (hash: number) => readonly Float64Array[];

/** Where traces with all of the hashes are. Those that are near each other make one range. */
function timeRangesOf(hashes: readonly number[], entriesOf: EntriesOf, among: Traces): TimeRange[] {
  const near = (SKIPPED_MAX * (among.newest - among.oldest)) / among.traces;
  const ranges: { oldest: number; newest: number }[] = [];
  for (const time of timesOfAll(hashes, entriesOf)) {
    const last = ranges.at(-1);
    if (last !== undefined && time - last.newest <= near) last.newest = time;
    else ranges.push({ oldest: time, newest: time });
  }
  return ranges;
}

/** When traces with all of the hashes were made, in order. */
function timesOfAll(hashes: readonly number[], entriesOf: EntriesOf): number[] {
  let times: number[] | undefined;
  for (const hash of hashes) {
    // Of most ids a segment holds nothing, and of one that many traces have a lot.
    if (times?.length === 0) break;
    const ofHash = timesWith(hash, entriesOf(hash));
    times = times?.filter((time) => ofHash.has(time)) ?? [...ofHash];
  }
  return (times ?? []).toSorted((left, right) => left - right);
}
