import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { bucketStartOf } from '@vitrine/traces/time-buckets';
import { needsPercentiles, type MeasureQuery } from '@vitrine/traces/trace-measures';
import { firstIdOf } from '@vitrine/traces/trace-id';
import { UsdSum } from '@vitrine/traces/usd';
import type { GroupSums } from './group-sums.ts';
import type { JournalReader } from './journal-reader.ts';
import type { MeasuredSums } from './measure-rows.ts';
import { ALL_TENANTS, LEVELS } from './rollup-levels.ts';
import type { Span } from '@vitrine/traces/split-range';
import type { TimeRange } from './time-range.ts';
import { createdRange } from './trace-journal.ts';

/** Sums of trillionths are whole, and so exact. Those below 2,251 dollars are found so; above that a product may miss by one. */
const PICO = 'sum(CAST(estimated_cost_usd * 1e12 + 0.5 AS INTEGER))';
const COST = `${PICO} / 1000000000000000 AS costThousands, ${PICO} % 1000000000000000 AS costPico`;
/** The same where that is too much for 64 bits: dollars and their fractions apart, which takes 8 % of a scan. */
const DOLLARS = 'CAST(estimated_cost_usd AS INTEGER)';
const FRACTIONS = `sum(CAST((estimated_cost_usd - ${DOLLARS}) * 1e12 + 0.5 AS INTEGER))`;
const LARGE_COST = `CAST(sum(${DOLLARS}) AS REAL) AS costDollars,
  ${FRACTIONS} / 1000000000000000 AS costThousands, ${FRACTIONS} % 1000000000000000 AS costPico`;

const sumsWith = (cost: string) => `count(*) AS requests,
  sum(response_status BETWEEN 400 AND 499) AS errors4xx,
  sum(response_status >= 500) AS errors5xx,
  sum(time_to_first_token_us > 0) AS streams,
  sum(input_tokens) AS inputTokens,
  sum(output_tokens) AS outputTokens,
  sum(total_tokens) AS totalTokens,
  ${cost},
  sum(latency_ms) AS latencyMs,
  sum(time_to_first_token_us) AS firstTokenUs,
  min(latency_ms) AS latencyMsMin,
  max(latency_ms) AS latencyMsMax,
  max(timestamp) AS lastActive`;

/** Reads the parts of hours at the edges of a range from the traces: about 0.5 µs for each that the hour has. */
export class PartHours {
  readonly #database: DatabaseSync;
  readonly #journal: JournalReader;
  readonly #bounds: StatementSync;
  readonly #removedBefore: StatementSync;

  constructor(database: DatabaseSync, journal: JournalReader) {
    this.#journal = journal;
    this.#database = database;
    this.#bounds = database.prepare(
      `SELECT min(oldest) AS oldest, max(newest) AS newest FROM rollups WHERE level = ${LEVELS.modelHour} AND tenant = ? AND start = ?`,
    );
    this.#removedBefore = database.prepare("SELECT value FROM totals WHERE name = 'removed_before'");
  }

  /** Whether traces of the hour that a part lies in may have been removed. */
  isGone(part: Span, tenant: number | undefined): boolean {
    const rolledUp = this.#rolledUp(part, tenant);
    return rolledUp !== undefined && rolledUp.oldest < Number(this.#removedBefore.get()?.['value']);
  }

  /** Adds the traces of a part, those among them that the journal holds. */
  addTo(sums: GroupSums, part: Span, query: MeasureQuery, tenant: number | undefined): void {
    const journal = this.#journal.between(part.from, part.before - 1);
    const ranges = [this.#rolledUp(part, tenant), createdRange(journal, part.from, part.before - 1)];
    const known = ranges.filter((range) => range !== undefined);
    if (known.length === 0) return;
    const oldest = Math.min(...known.map((range) => range.oldest));
    const newest = Math.max(...known.map((range) => range.newest));
    const bounds = [firstIdOf(oldest), firstIdOf(newest + 1), part.from, part.before - 1];
    const values = tenant === undefined ? bounds : [...bounds, tenant];
    // Only what the query divides by is divided here.
    const column = query.groupBy === 'key' ? 'scope' : query.groupBy === 'api_key_hash' ? 'credential' : 'model';
    const numbers = column === 'model' || (query.provider ?? query.model) === undefined ? column : `${column}, model`;
    // In one scan: a second one, which counted each latency of each group, took more than all the sums.
    const latencies = needsPercentiles(query) ? ", '[' || group_concat(latency_ms) || ']' AS latencies" : '';
    const read = (cost: string) =>
      this.#database
        .prepare(
          `SELECT ${numbers}, ${sumsWith(cost)} ${latencies} FROM traces WHERE id >= ? AND id < ? AND timestamp BETWEEN ? AND ?
           ${tenant === undefined ? '' : 'AND scope IN (SELECT scope FROM scopes WHERE tenant = ?)'} GROUP BY ${numbers}`,
        )
        .all(...values) as PartRow[];
    for (const row of withoutOverflow(read)) sums.addSums(part.from, row, row, JSON.parse(row.latencies ?? '[]') as number[]);
  }

  /** Where in `traces` those of the hour stand that roll-ups know. */
  #rolledUp(part: Span, tenant: number = ALL_TENANTS): TimeRange | undefined {
    const { oldest, newest } = this.#bounds.get(tenant, bucketStartOf(part.from, 'hour')) as Record<string, number | null>;
    return typeof oldest === 'number' && typeof newest === 'number' ? { oldest, newest } : undefined;
  }
}

/** Counts that a provider made up can make more money than there is: 9 million dollars in a part of an hour are too much for a sum of
 *  64 bits, and SQLite fails instead. */
function withoutOverflow(read: (cost: string) => PartRow[]): PartRow[] {
  try {
    return read(COST);
  } catch {
    return read(LARGE_COST).map((row) => {
      const cost = new UsdSum();
      cost.add(row.costDollars ?? 0);
      cost.addParts(row.costThousands, row.costPico);
      return { ...row, costThousands: cost.thousands, costPico: cost.pico };
    });
  }
}

/** Numbers that the query does not divide by are not there; nor are latencies, as a list in JSON, without percentiles. */
type PartRow = Parameters<GroupSums['addSums']>[1] &
  MeasuredSums & { readonly latencies?: string; readonly costDollars?: number };
