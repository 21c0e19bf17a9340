import { Fault } from '@vitrine/faults/fault';
import type { ExchangeScope } from '@vitrine/traces/exchange-scope';
import type { TraceRecord } from '@vitrine/traces/trace-record';
import type { WriteResult } from '@vitrine/traces/write-result';
import { setImmediate } from 'node:timers/promises';
import { deriveOldTrace, type OldTraceContext } from './derive-old-trace.ts';
import { oldCreatedAt, type OldTraceRow, type OldTraces } from './old-traces.ts';
import { newTraceId } from './old-trace-id.ts';

/** Remembered hashes of credentials; a gateway sees few. */
const HASHES_MAX = 4_096;
const SCOPES_MAX = 4_096;
/** Remembered ids of the rows that were read last: most parents are among them, and finding one in the file takes 7 µs. */
const IDS_MAX = 8_192;
/** Rows that could not be brought over are named up to this many. */
const EXAMPLES_MAX = 10;

/** Where traces go to. */
export interface ImportTarget {
  has(id: Uint8Array): boolean;
  write(records: readonly TraceRecord[]): WriteResult;
}

/** What became of the old file's rows. Every row that was read counts in exactly one of the figures below `read`. */
export interface ImportCounts {
  /** Rows of the file up to the last one that was read; all of them at the end. */
  source_rows: number;
  read: number;
  imported: number;
  /** Brought over before. */
  already_there: number;
  /** Older than `tracing.retention_days`: they would be removed at once. */
  too_old: number;
  /** By cause. */
  failed: Record<string, number>;
  failed_examples: { id: string; cause: string }[];
  /** Of the imported, those whose bodies stayed behind because `tracing.capture_bodies` is off. */
  without_bodies: number;
  /** Whether the whole file was read. */
  complete: boolean;
}

export interface ImportRun {
  readonly source: Pick<OldTraces, 'after' | 'count' | 'createdAtOf'>;
  readonly target: ImportTarget;
  readonly tools: Pick<OldTraceContext, 'policy' | 'privacy' | 'keyHeader'>;
  /** Traces made before are too old. */
  readonly oldestMs: number;
  /** Told after every page. */
  readonly onProgress: (counts: Readonly<ImportCounts>) => void;
  /** Looked at after every page. */
  readonly isStopped: () => boolean;
}

/** Brings the traces of an old file over, page by page in the order in which they were written. A trace's id here follows from its id
 *  there, so that a run that was broken off, however, is just started again: what is there already is passed over.
 *  Faults: `storage_unusable` when the store takes nothing. */
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
    // Signals are seen between pages.
    await setImmediate();
  }
  if (!counts.complete) counts.source_rows = source.count();
  return counts;
}

/** Whether every row of the file is accounted for. */
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
  // One bad row costs one row. When none of a page can be written, none of the next can.
  if (written > 0) return;
  const causes = failures.map(({ error_class }) => error_class).join();
  throw new Fault('storage_unusable', {
    say: `traces cannot be written (${causes}); ${counts.imported} were imported, and the same command goes on from there`,
  });
}

function oldTraceTools(
  { source, tools }: Pick<ImportRun, 'source' | 'tools'>,
  newIds: ReadonlyMap<string, Uint8Array>,
): OldTraceContext {
  const hashes = new Map<string, Uint8Array<ArrayBuffer>>();
  const scopes = new Map<string, ExchangeScope>();
  return {
    ...tools,
    hashBytes: (hex) => {
      const bytes = hashes.get(hex) ?? new Uint8Array(Buffer.from(hex, 'hex'));
      if (hashes.size >= HASHES_MAX) hashes.clear();
      hashes.set(hex, bytes);
      return bytes;
    },
    oneScope: (scope) => {
      const text = JSON.stringify(scope);
      const one = scopes.get(text) ?? scope;
      if (scopes.size >= SCOPES_MAX) scopes.clear();
      scopes.set(text, one);
      return one;
    },
    newIdOf: (oldId) => {
      const known = newIds.get(oldId);
      const createdAt = known === undefined ? source.createdAtOf(oldId) : undefined;
      const id = known ?? (createdAt && newTraceId(oldId, createdAt));
      return id && Buffer.from(id).toString('hex');
    },
  };
}
