import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { bucketStartOf } from '@vitrine/traces/time-buckets';
import { createdAtOf } from '@vitrine/traces/trace-id';
import type { JournalReader } from './journal-reader.ts';
import { newestFirst } from './newest-first.ts';
import type { ReadDictionary } from './read-dictionary.ts';
import { ALL_TENANTS, LEVELS, type Level } from './rollup-levels.ts';
import { RollupCursor } from './rollup-block.ts';
import type { TimeRange } from './time-range.ts';
import { createdRange } from './trace-journal.ts';
import type { Sums } from './rollup.ts';

/** Which traces a list is looking for, in the numbers of the file; undefined: any. */
export interface TraceFilter {
  readonly models: ReadonlySet<number> | undefined;
  readonly credentials: ReadonlySet<number> | undefined;
  readonly status: number | undefined;
  readonly minTokens: number | undefined;
  readonly maxTokens: number | undefined;
  readonly from: number | undefined;
  readonly to: number | undefined;
}

/** An hour of what is looked through. */
interface Zone extends TimeRange {
  readonly start: number;
}

/** Finds out from the roll-ups where in `traces` matches can be: a scan leaves out the hours that hold none.
 *  Days are looked at before their hours, so that most hours are left out without being read. */
export class TraceTimeRanges {
  readonly #dictionary: ReadDictionary;
  readonly #zones: StatementSync;
  readonly #journal: JournalReader;
  readonly #rollups: StatementSync;
  readonly #oldestTrace: StatementSync;

  constructor(database: DatabaseSync, dictionary: ReadDictionary, journal: JournalReader) {
    this.#dictionary = dictionary;
    this.#zones = database.prepare(
      `SELECT start, min(oldest) AS oldest, max(newest) AS newest FROM rollups
       WHERE level = ${LEVELS.modelHour} AND tenant = ? AND start BETWEEN ? AND ? AND newest >= ? GROUP BY start`,
    );
    this.#journal = journal;
    this.#rollups = database.prepare('SELECT sums FROM rollups WHERE level = ? AND tenant = ? AND start = ?');
    this.#oldestTrace = database.prepare('SELECT id FROM traces ORDER BY id LIMIT 1');
  }

  /** The newest and the oldest that anything of the time range can be; undefined: nothing is. */
  spanningRange(tenant: number | undefined, filter: TraceFilter): TimeRange | undefined {
    const zones = [...this.#zonesOf(tenant, filter), ...this.#ofJournal(filter)];
    if (zones.length === 0) return undefined;
    return zones.reduce<TimeRange>(
      (spanningRange, { oldest, newest }) => ({
        oldest: Math.min(spanningRange.oldest, oldest),
        newest: Math.max(spanningRange.newest, newest),
      }),
      { oldest: Number.MAX_SAFE_INTEGER, newest: 0 },
    );
  }

  /** Where matches can be, newest first and disjoint, from `top` downwards. Reads roll-ups only as far as the caller iterates. */
  find(tenant: number | undefined, filter: TraceFilter, top: number): Generator<TimeRange> {
    const levels =
      filter.credentials === undefined
        ? { hour: LEVELS.modelHour, day: LEVELS.modelDay, tenants: [tenant ?? ALL_TENANTS] }
        : { hour: LEVELS.keyHour, day: LEVELS.keyDay, tenants: tenant === undefined ? this.#dictionary.tenants() : [tenant] };
    const days = new Map<number, boolean>();
    const holdsDay = (start: number) => {
      const day = bucketStartOf(start, 'day');
      const holds = days.get(day) ?? this.#timeRangeIn(levels.day, levels.tenants, day, filter) !== undefined;
      days.set(day, holds);
      return holds;
    };
    const look = ({ start }: Zone) => {
      const found = holdsDay(start) ? this.#timeRangeIn(levels.hour, levels.tenants, start, filter) : undefined;
      return found === undefined ? [] : [found];
    };
    return newestFirst(this.#zonesOf(tenant, filter), look, this.#ofJournal(filter), top);
  }

  /** Hours of which traces are left. */
  #zonesOf(tenant: number | undefined, { from, to }: TraceFilter): Zone[] {
    const first = from === undefined ? Number.MIN_SAFE_INTEGER : bucketStartOf(from, 'hour');
    const oldest = this.#oldestTrace.get()?.['id'];
    if (!(oldest instanceof Uint8Array)) return [];
    const rows = this.#zones.all(tenant ?? ALL_TENANTS, first, to ?? Number.MAX_SAFE_INTEGER, createdAtOf(oldest));
    return rows.map((row) => ({
      start: Number(row['start']),
      oldest: Number(row['oldest']),
      newest: Number(row['newest']),
    }));
  }

  /** Where in an hour or a day something can be. */
  #timeRangeIn(level: Level, tenants: readonly number[], start: number, filter: TraceFilter): TimeRange | undefined {
    let [oldest, newest] = [Number.MAX_SAFE_INTEGER, -1];
    for (const tenant of tenants) {
      for (const { sums } of this.#rollups.all(level, tenant, start)) {
        const found = timeRangeOf(sums as Uint8Array, start, filter);
        oldest = Math.min(oldest, found?.oldest ?? oldest);
        newest = Math.max(newest, found?.newest ?? newest);
      }
    }
    return newest < 0 ? undefined : { oldest, newest };
  }

  #ofJournal({ from = 0, to = Number.MAX_SAFE_INTEGER }: TraceFilter): TimeRange[] {
    const range = createdRange(this.#journal.between(from, to), from, to);
    return range === undefined ? [] : [range];
  }
}

/** The time range of the roll-ups that can hold matches. */
function timeRangeOf(packed: Uint8Array, start: number, filter: TraceFilter): TimeRange | undefined {
  const { models, credentials } = filter;
  const cursor = new RollupCursor(packed, undefined, start);
  let [oldest, newest] = [Number.MAX_SAFE_INTEGER, -1];
  while (cursor.next()) {
    if (models !== undefined && !models.has(cursor.model)) continue;
    if (credentials !== undefined && !credentials.has(cursor.credential)) continue;
    const sums = cursor.sums();
    if (!canHold(sums, filter)) continue;
    if (sums.oldest < oldest) oldest = sums.oldest;
    if (sums.newest > newest) newest = sums.newest;
  }
  return newest < 0 ? undefined : { oldest, newest };
}

function canHold(sums: Readonly<Sums>, { status, minTokens, maxTokens }: TraceFilter): boolean {
  if (minTokens !== undefined && sums.tokensMax < minTokens) return false;
  if (maxTokens !== undefined && sums.tokensMin > maxTokens) return false;
  if (status === undefined) return true;
  if (status >= 500) return sums.errors5xx > 0;
  return status >= 400 ? sums.errors4xx > 0 : sums.requests > sums.errors4xx + sums.errors5xx;
}
