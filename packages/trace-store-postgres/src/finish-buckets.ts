import { tryLockByName } from '@vitrine/postgres/advisory-lock';
import type { Queryable } from '@vitrine/postgres/connection';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { Transaction } from '@vitrine/postgres/transaction';
import { PACKED_MARKS } from './packed-groups.ts';
import { packSums } from './pack-sums.ts';
import { sumAllTenants } from './sum-all-tenants.ts';

/** Hours and days of one transaction. Traces that come late wait for it. */
const AT_ONCE = { hour: 8, day: 1 } as const;
/** How long after its end an hour is expected to get traces still. One that comes later costs another sum of its hour and day. */
const DELAY = '5 minutes';

/** Sums up hours and days that are over: those of all tenants, and packed for queries of many of them. Repeats that where traces came later.
 *  Any replica may run it. */
export async function finishBuckets(pool: PostgresPool): Promise<void> {
  for (const unit of ['hour', 'day'] as const)
    while ((await pool.transaction((transaction) => finishSome(transaction, unit))) === AT_ONCE[unit]);
}

/** How many hours that are over wait for `finishBuckets`: those that ended a little while ago, and those to which traces came later. */
export async function readHoursToPack(database: Queryable): Promise<number> {
  const [row] = await database.query<{ hours: number }>(
    `SELECT count(*) AS hours FROM trace_hours WHERE NOT (${areMarked('hour')}) AND hour < date_trunc('hour', now() - interval '${DELAY}', 'UTC')`,
  );
  return row?.hours ?? 0;
}

/** A writer marks an hour as not summed in the transaction of its traces, after their sums. So rows of `trace_hours` are locked before sums are
 *  read: whoever has added to these has committed, or marks the hour afterwards. */
async function finishSome(transaction: Transaction, unit: 'hour' | 'day'): Promise<number> {
  if (!(await tryLockByName(transaction, 'vitrine sums of all tenants'))) return 0;
  const bucketsOver = await transaction.query<{ bucket: number }>(
    `SELECT DISTINCT date_trunc('${unit}', hour, 'UTC') AS bucket FROM trace_hours
     WHERE NOT (${unit}_is_summed AND ${areMarked(unit)}) AND hour < date_trunc('${unit}', now() - interval '${DELAY}', 'UTC')
     ORDER BY bucket LIMIT ${AT_ONCE[unit]}`,
  );
  const buckets = bucketsOver.map(({ bucket }) => new Date(bucket));
  if (buckets.length === 0) return 0;
  const hours = await transaction.query<{ hour: number }>(
    `SELECT hour FROM trace_hours WHERE date_trunc('${unit}', hour, 'UTC') = ANY ($1) ORDER BY hour FOR UPDATE`,
    [buckets],
  );
  await sumAllTenants(transaction, unit, buckets);
  await packSums(transaction, unit, buckets);
  const marks = ['is_summed', ...PACKED_MARKS].map((mark) => `${unit}_${mark} = true`);
  await transaction.execute(`UPDATE trace_hours SET ${marks.join(', ')} WHERE hour = ANY ($1)`, [
    hours.map(({ hour }) => new Date(hour)),
  ]);
  return buckets.length;
}

function areMarked(unit: 'hour' | 'day'): string {
  return PACKED_MARKS.map((mark) => `${unit}_${mark}`).join(' AND ');
}
