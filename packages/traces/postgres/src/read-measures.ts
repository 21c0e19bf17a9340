import { pagesOf } from '@vitrine/postgres/pages-of';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { MEASURES_MAX, tooManyGroups, type Measure, type MeasureQuery } from '@vitrine/traces/trace-measures';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { measureStatement, partHoursOf, type PartHour } from './measure-query.ts';
import { measuresIn, type MeasureRow } from './measure-rows.ts';

/** Buckets read at once. */
const PAGE_ROWS = 100;
/** Measures created within one turn of the event loop. */
const MEASURES_PER_TURN = 1_000;

/** Faults: `too_many_groups`. */
export async function readMeasures(pool: PostgresPool, query: MeasureQuery): Promise<Measure[]> {
  const measures: Measure[] = [];
  await eachRow(pool, query, async (row) => {
    for (const measure of measuresIn(query, row)) if (measures.push(measure) % MEASURES_PER_TURN === 0) await nextTurn();
  });
  return measures;
}

async function eachRow(pool: PostgresPool, query: MeasureQuery, use: (row: MeasureRow) => Promise<void>): Promise<void> {
  const { text, values } = measureStatement(query, await readPartHours(pool, partHoursOf(query)));
  let groups = 0;
  const useAll = async (rows: readonly MeasureRow[]) => {
    for (const row of rows) {
      groups += row.names.length;
      if (groups > MEASURES_MAX) throw tooManyGroups();
      await use(row);
    }
  };
  const hasManyBuckets = query.bucket === 'hour' && query.groupBy !== undefined;
  if (!hasManyBuckets) return await useAll(await pool.query<MeasureRow>(text, values));
  await pool.transaction(
    async (transaction) => {
      for await (const page of pagesOf<MeasureRow>(transaction, text, values, PAGE_ROWS)) await useAll(page);
    },
    { readOnly: true },
  );
}

/** Read before the statement that needs them, because as values they select partitions at planning time. */
async function readPartHours(pool: PostgresPool, hours: readonly number[]): Promise<PartHour[]> {
  if (hours.length === 0) return [];
  return await pool.query<PartHour>(
    `SELECT hour, first_created_at AS first, last_created_at AS last, first_created_at < removed_before AS "isGone"
     FROM trace_hours, trace_retention WHERE hour = ANY ($1)`,
    [hours.map((hour) => new Date(hour))],
  );
}
