import type { DatabaseSync } from 'node:sqlite';
import { createdAtOf } from '@vitrine/traces/trace-id';
import { addEntries, LINEAGE_IDS } from './lineage-entries.ts';
import { LineageSegments, SEGMENT_TRACES } from './lineage-segments.ts';

/** Fills the segments of lineages from all rows of `traces`, as a file needs that was written by a schema before 3. Inside the
 *  caller's transaction. Five million rows with an id each take 17 s. */
export function addLineagesOfRows(database: DatabaseSync): void {
  const segments = new LineageSegments(database);
  let entries: number[] = [];
  let traces = 0;
  const add = () => segments.add([Float64Array.from(entries)], traces);
  for (const row of database.prepare(`SELECT id, ${LINEAGE_IDS.join()} FROM traces`).iterate()) {
    const text = (column: string) => (typeof row[column] === 'string' ? row[column] : undefined);
    const ids = { trace_group_id: text('trace_group_id'), thread_id: text('thread_id'), run_id: text('run_id') };
    addEntries(entries, ids, createdAtOf(row['id'] as Uint8Array));
    traces += 1;
    if (traces < SEGMENT_TRACES) continue;
    add();
    entries = [];
    traces = 0;
  }
  add();
}
