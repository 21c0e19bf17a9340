import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { bucketStartOf } from '@vitrine/traces/time-buckets';
import { needsPercentiles, type MeasureQuery } from '@vitrine/traces/trace-measures';
import { GroupSums } from './group-sums.ts';
import type { JournalReader } from './journal-reader.ts';
import type { MeasureTable } from './measure-table.ts';
import { PartHours } from './part-hours.ts';
import type { ReadDictionary } from './read-dictionary.ts';
import { RollupCursor } from './rollup-block.ts';
import { ALL_TENANTS, LEVELS, type Level } from './rollup-levels.ts';
import { splitRange, type Span } from '@vitrine/traces/split-range';
import { readJournal } from './trace-journal.ts';

const EARLIEST = Number.MIN_SAFE_INTEGER;
const LATEST = Number.MAX_SAFE_INTEGER;

/** Measures by roll-ups: whole days and hours from their rows, what came last from the journal, and the parts of hours at the edges of a
 *  range from the traces themselves. */
export class RollupReader {
  readonly #dictionary: ReadDictionary;
  readonly #sums: StatementSync;
  readonly #sumsAndLatencies: StatementSync;
  readonly #journal: JournalReader;
  readonly #parts: PartHours;

  constructor(database: DatabaseSync, dictionary: ReadDictionary, journal: JournalReader) {
    this.#dictionary = dictionary;
    const rows = (columns: string) => {
      const statement = database.prepare(
        `SELECT ${columns} FROM rollups WHERE level = ? AND tenant = ? AND start >= ? AND start < ?`,
      );
      // An object a row takes half as long again.
      statement.setReturnArrays(true);
      return statement;
    };
    this.#sums = rows('start, sums');
    this.#sumsAndLatencies = rows('start, sums, latencies');
    this.#journal = journal;
    this.#parts = new PartHours(database, journal);
  }

  /** Undefined when there are too many groups. To be called in a transaction, so that everything read is of one moment. */
  measure(query: MeasureQuery): MeasureTable | undefined {
    const { from, to, tenant, groupBy, bucket } = query;
    const byKey = groupBy === 'key' || groupBy === 'api_key_hash';
    const known = tenant && this.#dictionary.tenant(tenant);
    const sums = new GroupSums(query, this.#dictionary);
    if (tenant !== undefined && known === undefined) return sums.table();
    const tenants = known === undefined ? this.#dictionary.tenants() : [known];
    const rolledUp = byKey || known !== undefined ? tenants : [ALL_TENANTS];
    const hourLevel = byKey ? LEVELS.keyHour : LEVELS.modelHour;

    const { days, hours, parts } = splitRange(from, to, bucket);
    const readParts = parts.filter((part) => !this.#parts.isGone(part, known));
    for (const part of readParts) this.#parts.addTo(sums, part, query, known);
    for (const part of parts) {
      const hour = { from: bucketStartOf(part.from, 'hour'), before: part.before };
      const isWhole = !readParts.includes(part) && hour.from >= part.from;
      if (isWhole) this.#addRollups(sums, hourLevel, rolledUp, hour, query);
    }
    for (const span of days) this.#addRollups(sums, byKey ? LEVELS.keyDay : LEVELS.modelDay, rolledUp, span, query);
    for (const span of hours) this.#addRollups(sums, hourLevel, rolledUp, span, query);
    for (const trace of readJournal(this.#journal.between(from, to))) {
      const { timestamp } = trace;
      if ((from !== undefined && timestamp < from) || (to !== undefined && timestamp > to)) continue;
      if (known !== undefined && this.#dictionary.scope(trace.scope).tenant !== known) continue;
      if (!readParts.some((part) => timestamp >= part.from && timestamp < part.before)) sums.addTrace(trace);
    }
    return sums.table();
  }

  #addRollups(sums: GroupSums, level: Level, tenants: readonly number[], span: Span, query: MeasureQuery): void {
    const statement = needsPercentiles(query) ? this.#sumsAndLatencies : this.#sums;
    for (const tenant of tenants) {
      for (const row of statement.iterate(level, tenant, bounded(span.from), bounded(span.before))) {
        const [start, packed, latencies] = [Number(row[0]), row[1] as Uint8Array, row[2] as Uint8Array | undefined];
        const cursor = new RollupCursor(packed, latencies, start);
        while (cursor.next()) sums.addRollup(start, cursor);
        if (sums.isTooMany) return;
      }
    }
  }
}

function bounded(at: number): number {
  return Math.min(Math.max(at, EARLIEST), LATEST);
}
