import { textTable } from '@vitrine/command-line/print-result';
import { failedOf, isProven, type ImportCounts } from './import-traces.ts';

export interface ImportReport extends ImportCounts {
  readonly schema_version: 'import.v1';
  readonly from: string;
  readonly into: string;
  readonly dry_run: boolean;
  readonly retention_days: number;
  readonly seconds: number;
  readonly rows_per_second: number;
  /** Whether every row of the file is counted once. */
  readonly proven: boolean;
}

export function importReport(
  counts: ImportCounts,
  of: Pick<ImportReport, 'from' | 'into' | 'dry_run' | 'retention_days'> & { readonly ms: number },
): ImportReport {
  const { ms, ...rest } = of;
  const seconds = Math.round(ms) / 1_000;
  const rows_per_second = Math.round(counts.read / Math.max(0.001, seconds));
  return { schema_version: 'import.v1', ...rest, ...counts, seconds, rows_per_second, proven: isProven(counts) };
}

export function importText(report: ImportReport): string {
  const { from, into, dry_run, source_rows, read, imported, already_there, too_old, failed, complete, seconds } = report;
  const rows = [
    [dry_run ? 'would be imported' : 'imported', imported],
    ['already imported', already_there],
    [`older than tracing.retention_days (${report.retention_days})`, too_old],
    ...Object.entries(failed).map(([cause, count]) => [`failed: ${cause}`, count] as const),
    ['read', read],
    [`rows of ${from}`, source_rows],
  ] as const;
  const table = textTable(
    ['TRACES', 'COUNT'],
    rows.map(([name, count]) => [name, String(count)]),
  );
  const examples = report.failed_examples.map(({ id, cause }) => `  ${id}: ${cause}\n`);
  return [
    `${dry_run ? 'Nothing was written (--dry-run)' : `Imported into ${into}`}: ${read} rows in ${seconds} s, ${report.rows_per_second} per second.\n\n`,
    table,
    examples.length === 0 ? '' : `\nNot imported, for example:\n${examples.join('')}`,
    ...notesOf(report).map((note) => `\n${note}\n`),
    complete ? '' : '\nStopped before the end: the same command continues from here.\n',
    report.proven || !complete ? '' : '\nThe counts do not add up, because rows changed during the import. Run it again.\n',
  ].join('');
}

function notesOf({ too_old, without_bodies, dry_run, failed }: ImportReport): string[] {
  const notes: string[] = [];
  if (too_old > 0)
    notes.push(
      `Traces older than tracing.retention_days would be removed at once. To keep them, increase SVC_TRACING_RETENTION_DAYS, for the gateway too, and run this again.`,
    );
  if (without_bodies > 0)
    notes.push(
      `${dry_run ? 'Would be imported' : 'Imported'} without bodies: ${without_bodies}, because tracing.capture_bodies (SVC_TRACING_CAPTURE_BODIES) is false. Imported traces are not imported again: set it before.`,
    );
  if (failedOf(failed) > 0) notes.push('Run this again to retry failed traces.');
  return notes;
}
