import type { RetentionClock, RetentionRun } from '@vitrine/lifecycle/retention-clock';
import type { PostgresPool } from './postgres-pool.ts';

/** A loop that removes old rows, identified by its row of `retention_runs`. */
export interface RetentionLoop {
  readonly name: string;
  /** Selects `newest`: the time of its newest row. */
  readonly newest: string;
}

const FIND = 'SELECT at, ran_at AS "ranAt" FROM retention_runs WHERE name = $1 FOR UPDATE';
const KEEP = `INSERT INTO retention_runs (name, at, ran_at) VALUES ($1, $2, $3)
  ON CONFLICT (name) DO UPDATE SET at = excluded.at, ran_at = excluded.ran_at`;

/** Advances a loop's clock by that of the database, stores it, and returns it. */
export function advanceRetention(pool: PostgresPool, clock: RetentionClock, loop: RetentionLoop): Promise<RetentionRun> {
  return pool.transaction(async (transaction) => {
    const [last] = await transaction.query<RetentionRun>(FIND, [loop.name]);
    // Read after waiting for the row lock.
    const [now] = await transaction.query<{ now: number }>('SELECT clock_timestamp() AS now');
    const [newest] = last === undefined ? await transaction.query<{ newest: number | null }>(loop.newest) : [];
    const run = clock.next(last, now?.now ?? 0, newest?.newest ?? undefined);
    await transaction.execute(KEEP, [loop.name, new Date(run.at), new Date(run.ranAt)]);
    return run;
  });
}
