import type { RetentionClock, RetentionRun } from '@vitrine/lifecycle/retention-clock';
import type { DatabaseSync } from 'node:sqlite';

/** Also created in files of earlier versions, which can still read them. */
const TABLE =
  'CREATE TABLE IF NOT EXISTS retention_runs (name TEXT PRIMARY KEY, at INTEGER NOT NULL, ran_at INTEGER NOT NULL) STRICT';

/** Advances the clock of the loop that removes old rows, and stores it in the file. Call it in a transaction. `newestMs` returns the time of the
 *  newest row. */
export function advanceRetention(
  database: DatabaseSync,
  clock: RetentionClock,
  { name, newestMs }: { readonly name: string; readonly newestMs: () => number | undefined },
  nowMs: number,
): RetentionRun {
  database.exec(TABLE);
  const found = database.prepare('SELECT at, ran_at FROM retention_runs WHERE name = ?').get(name);
  const last = found && { at: Number(found['at']), ranAt: Number(found['ran_at']) };
  const run = clock.next(last, nowMs, last === undefined ? newestMs() : undefined);
  database.prepare('INSERT OR REPLACE INTO retention_runs VALUES (?, ?, ?)').run(name, run.at, run.ranAt);
  return run;
}
