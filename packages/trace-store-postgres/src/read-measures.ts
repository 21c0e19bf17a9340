import { pagesOf } from '@vitrine/postgres/pages-of';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { needsPercentiles, type Measure, type MeasureQuery, type TakeBucket } from '@vitrine/traces/trace-measures';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { measureStatement, partHoursOf, type PartHour, type Statement } from './measure-query.ts';
import { MeasureSums, type MeasureRow } from './measure-sums.ts';
import { packedGroupOf } from './packed-groups.ts';
import { SeriesBuckets } from './series-buckets.ts';

/** Rows that are read at once. One has up to 1,024 groups: 5 KB usually, and with histograms 100, a megabyte at most. */
const PAGE_ROWS = 100;
const PAGE_ROWS_OF_HISTOGRAMS = 8;
/** Groups whose sums are added within one turn of the event loop: a millisecond or two. */
const GROUPS_PER_TURN = 1_000;

/** Faults: `too_many_groups`. */
export async function readMeasures(pool: PostgresPool, query: MeasureQuery): Promise<Measure[]> {
  const sums = new MeasureSums(query);
  const turns = new Turns();
  await eachRow(pool, query, await statementOf(pool, query), async (row) => turns.after(sums.add(row)));
  return [...sums];
}

/** The measures of a query with a bucket, each bucket as soon as it is read. Faults: `too_many_groups`. */
export async function readBuckets(pool: PostgresPool, query: MeasureQuery, take: TakeBucket): Promise<void> {
  const { text, values } = await statementOf(pool, query);
  const buckets = new SeriesBuckets(query);
  const turns = new Turns();
  await eachRow(pool, query, { text: `SELECT * FROM (${text}) AS rows ORDER BY bucket`, values }, async (row) => {
    const complete = buckets.add(row);
    if (complete !== undefined) await take(complete);
    await turns.after(row.requests.length);
  });
  const last = buckets.end();
  if (last !== undefined) await take(last);
}

async function statementOf(pool: PostgresPool, query: MeasureQuery): Promise<Statement> {
  return measureStatement(query, await readPartHours(pool, partHoursOf(query)), Date.now());
}

async function eachRow(
  pool: PostgresPool,
  query: MeasureQuery,
  { text, values }: Statement,
  use: (row: MeasureRow) => Promise<void>,
): Promise<void> {
  if (!mayBeLong(query)) for (const row of await pool.query<MeasureRow>(text, values)) await use(row);
  else
    await pool.transaction(
      async (transaction) => {
        const pageRows = needsPercentiles(query) ? PAGE_ROWS_OF_HISTOGRAMS : PAGE_ROWS;
        for await (const page of pagesOf<MeasureRow>(transaction, text, values, pageRows)) for (const row of page) await use(row);
      },
      { readOnly: true },
    );
}

/** Providers are few, and what is not packed comes added up; anything else may be as much as clients make it. */
function mayBeLong(query: MeasureQuery): boolean {
  const group = packedGroupOf(query);
  return (query.bucket === 'hour' && query.groupBy !== undefined) || (group !== undefined && group !== 'provider');
}

/** Lets other work in between groups. */
class Turns {
  #groups = 0;

  async after(groups: number): Promise<void> {
    this.#groups += groups;
    if (this.#groups < GROUPS_PER_TURN) return;
    this.#groups = 0;
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
