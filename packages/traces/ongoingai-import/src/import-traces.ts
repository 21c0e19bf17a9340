import { Fault } from '@vitrine/faults/fault';
import { firstIdOf } from '@vitrine/traces/trace-id';
import type { TraceRecord } from '@vitrine/traces/trace-record';
import type { WriteResult } from '@vitrine/traces/write-result';
import { hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { deriveOldTrace, type OldTraceContext } from './derive-old-trace.ts';
import { oldCreatedAt, type OldTraceRow, type OldTraces } from './old-traces.ts';
import type { OldTime } from './old-time.ts';

/** Cached ids of the latest rows: most parents are among them, and a look-up in the file takes 7 µs. */
const IDS_MAX = 8_192;
/** Listed rows that could not be imported. */
const EXAMPLES_MAX = 10;

const NANOSECONDS_PER_MS = 1_000_000;
/** Begins what is hashed for the id of an imported trace. */
const NAMESPACE = 'ongoingai/gateway';

/** The store of imported traces. */
export interface ImportTarget {
  has(id: Uint8Array): boolean;
  write(records: readonly TraceRecord[]): WriteResult;
}

/** Counts of the old file's rows. Every row that was read counts in exactly one of the figures below `read`. */
export interface ImportCounts {
  /** Rows of the file up to the last one that was read; all of them at the end. */
  source_rows: number;
  read: number;
  imported: number;
  /** Imported before. */
  already_there: number;
  /** Older than `tracing.retention_days`: they would be removed at once. */
  too_old: number;
  /** By cause. */
  failed: Record<string, number>;
  failed_examples: { id: string; cause: string }[];
  /** Imported traces without their bodies, because `tracing.capture_bodies` is off. */
  without_bodies: number;
  /** Whether the whole file was read. */
  complete: boolean;
}

interface ImportRun {
  readonly source: Pick<OldTraces, 'after' | 'count' | 'createdAtOf'>;
  readonly target: ImportTarget;
  readonly tools: Pick<OldTraceContext, 'policy' | 'privacy' | 'keyHeader'>;
  /** Older traces are skipped. */
  readonly oldestMs: number;
  /** Called after every page. */
  readonly onProgress: (counts: Readonly<ImportCounts>) => void;
  /** Checked after every page. */
  readonly isStopped: () => boolean;
}

/** Imports the traces of an old file, page by page in the order in which they were written. The new id of a trace is derived from its
 *  old one, so that an interrupted import can be started again: imported traces are skipped.
 *  Faults: `storage_unusable` when no trace of a page can be written. */
export async function importTraces(run: ImportRun): Promise<ImportCounts> {
  const { source, target, oldestMs, onProgress, isStopped } = run;
  const counts: ImportCounts = {
    source_rows: 0,
    read: 0,
    imported: 0,
    already_there: 0,
    too_old: 0,
    failed: {},
    failed_examples: [],
    without_bodies: 0,
    complete: false,
  };
  const newIds = new Map<string, Uint8Array>();
  const tools = oldTraceTools(run, newIds);
  for (let last = 0; !isStopped();) {
    const rows = source.after(last);
    counts.complete = rows.length === 0;
    if (counts.complete) {
      counts.source_rows = source.count(last);
      break;
    }
    const records = rows.flatMap((row) => recordOf(row, { target, oldestMs, tools, counts, newIds }) ?? []);
    counts.read += rows.length;
    last = rows.at(-1)?.rowid ?? last;
    writeAll(records, target, counts);
    onProgress(counts);
    // Lets signals be handled between pages.
    await setImmediate();
  }
  if (!counts.complete) counts.source_rows = source.count();
  return counts;
}

/** Whether every row of the file is counted once. */
export function isProven(counts: ImportCounts): boolean {
  const { source_rows, read, imported, already_there, too_old, failed, complete } = counts;
  return complete && read === source_rows && read === imported + already_there + too_old + failedOf(failed);
}

export function failedOf(failed: ImportCounts['failed']): number {
  return Object.values(failed).reduce((sum, count) => sum + count, 0);
}

function recordOf(
  row: OldTraceRow,
  of: Pick<ImportRun, 'target' | 'oldestMs'> & {
    readonly tools: OldTraceContext;
    readonly counts: ImportCounts;
    readonly newIds: Map<string, Uint8Array>;
  },
): TraceRecord | undefined {
  const { target, oldestMs, tools, counts, newIds } = of;
  const createdAt = oldCreatedAt(row);
  if (row.id === null || row.id === '') return fail(counts, row, 'no id');
  if (createdAt === undefined) return fail(counts, row, 'unreadable time');
  if (createdAt.ms < oldestMs) {
    counts.too_old += 1;
    return undefined;
  }
  const id = newTraceId(row.id, createdAt);
  if (newIds.size >= IDS_MAX) newIds.clear();
  newIds.set(row.id, id);
  if (target.has(id)) {
    counts.already_there += 1;
    return undefined;
  }
  const record = deriveOldTrace(row, { id, createdAt: createdAt.ms }, tools);
  if (record === undefined) return fail(counts, row, 'unreadable status');
  if (!tools.policy.captureBodies && row.request_body_bytes + row.response_body_bytes > 0) counts.without_bodies += 1;
  return record;
}

function fail(counts: ImportCounts, { id, rowid }: OldTraceRow, cause: string): undefined {
  counts.failed[cause] = (counts.failed[cause] ?? 0) + 1;
  if (counts.failed_examples.length < EXAMPLES_MAX) counts.failed_examples.push({ id: id ?? `row ${rowid}`, cause });
}

function writeAll(records: readonly TraceRecord[], target: ImportTarget, counts: ImportCounts): void {
  if (records.length === 0) return;
  const { written, failures } = target.write(records);
  counts.imported += written;
  for (const { error_class, count } of failures) {
    const cause = `not written: ${error_class}`;
    counts.failed[cause] = (counts.failed[cause] ?? 0) + count;
  }
  // An invalid row fails alone. When no row of a page can be written, the store is unusable.
  if (written > 0) return;
  const causes = failures.map(({ error_class }) => error_class).join();
  throw new Fault('storage_unusable', {
    say: `traces cannot be written (${causes}); ${counts.imported} were imported, and the same command continues from here`,
  });
}

function oldTraceTools(
  { source, tools }: Pick<ImportRun, 'source' | 'tools'>,
  newIds: ReadonlyMap<string, Uint8Array>,
): OldTraceContext {
  return {
    ...tools,
    newIdOf: (oldId) => {
      const known = newIds.get(oldId);
      const createdAt = known === undefined ? source.createdAtOf(oldId) : undefined;
      const id = known ?? (createdAt && newTraceId(oldId, createdAt));
      return id && Buffer.from(id).toString('hex');
    },
  };
}

/** The id of an imported trace: a UUIDv7 of its `created_at`, like every id here, so that it sorts among the others by time. The 12 bits
 *  after the millisecond are its fraction, which keeps the old order; the rest is a hash of the old id. The same trace always has the
 *  same id, so that a trace is stored once however often it is imported. */
export function newTraceId(oldId: string, { ms, nanoseconds }: OldTime): Uint8Array<ArrayBuffer> {
  const id = firstIdOf(ms);
  const fraction = Math.floor((nanoseconds * 4_096) / NANOSECONDS_PER_MS);
  id[6] = 0x70 | (fraction >>> 8);
  id[7] = fraction;
  id.set(hash('sha256', `${NAMESPACE}:${oldId}`, 'buffer').subarray(0, 8), 8);
  id[8] = ((id[8] ?? 0) & 0x3f) | 0x80;
  return id;
}
