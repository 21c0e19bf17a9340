import { pagesOf } from '@vitrine/postgres/pages-of';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { needsPercentiles, type MeasureQuery, type MeasureSeries } from '@vitrine/traces/trace-measures';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { measureStatement, partHoursOf, type PartHour } from './measure-query.ts';
import { MeasureSums, type MeasureRow } from './measure-sums.ts';
import { packedGroupOf } from './packed-groups.ts';

/** Rows that are read at once. One has up to 1,024 groups: 5 KB usually, and with histograms 100, a megabyte at most. */
const PAGE_ROWS = 100;
const PAGE_ROWS_OF_HISTOGRAMS = 8;
/** Groups whose sums are added within one turn of the event loop: a millisecond or two. */
const GROUPS_PER_TURN = 1_000;

/** Faults: `too_many_groups`. */
export async function readMeasures(pool: PostgresPool, query: MeasureQuery): Promise<MeasureSeries> {
  const { text, values } = measureStatement(query, await readPartHours(pool, partHoursOf(query)), Date.now());
  const sums = new MeasureSums(query);
  const pageRows = needsPercentiles(query) ? PAGE_ROWS_OF_HISTOGRAMS : PAGE_ROWS;
  if (!mayBeLong(query)) for (const row of await pool.query<MeasureRow>(text, values)) sums.add(row);
  else
    await pool.transaction(
      async (transaction) => {
        for await (const page of pagesOf<MeasureRow>(transaction, text, values, pageRows)) await addInTurns(sums, page);
      },
      { readOnly: true },
    );
  return sums;
}

/** Providers are few, and what is not packed comes added up; anything else may be as much as clients make it. */
function mayBeLong(query: MeasureQuery): boolean {
  const group = packedGroupOf(query);
  return (query.bucket === 'hour' && query.groupBy !== undefined) || (group !== undefined && group !== 'provider');
}

async function addInTurns(sums: MeasureSums, rows: readonly MeasureRow[]): Promise<void> {
  let added = 0;
  for (const row of rows) {
    added += sums.add(row);
    if (added < GROUPS_PER_TURN) continue;
    added = 0;
    await nextTurn();
  }
}

/** Before the statement that needs them: as values they select partitions when it is planned. */
async function readPartHours(pool: PostgresPool, hours: readonly number[]): Promise<PartHour[]> {
  if (hours.length === 0) return [];
  return await pool.query<PartHour>(
    `SELECT hour, first_created_at AS first, last_created_at AS last, first_created_at < removed_before AS "isGone"
     FROM trace_hours, trace_retention WHERE hour = ANY ($1)`,
    [hours.map((hour) => new Date(hour))],
  );
}
