import { parseArgs } from 'node:util';
import { STORE_DRIVERS, type StoreSummary } from '@vitrine/traces/trace-store';
import { checkoutOf, whole } from '../proxy/proxy-plan.ts';

export interface AnalyticsPlan {
  readonly traces: number;
  readonly days: number;
  /** How often each query is run. */
  readonly repeats: number;
  readonly storage: StoreSummary['driver'];
  /** A Postgres of the user; undefined: one that the bench starts. */
  readonly dsn: string | undefined;
  /** The file, or the folder for Postgres, that keeps the traces for another run; undefined for none. */
  readonly file: string | undefined;
  /** Another checkout: its gateway runs in parallel with this one's, over HTTP only. */
  readonly against: URL | undefined;
  /** Whether to measure a row, by its name. */
  readonly isWanted: (row: string) => boolean;
}

export const ANALYTICS_OPTIONS = [
  ['--traces N', 'traces to load (default 5000000)'],
  ['--days N', 'days over which they are spread (default 30)'],
  ['--repeats N', 'times that each query is run (default 40)'],
  [
    '--only TEXT',
    'only rows with this in their names (what it is, query, range), such as "by model and hour"; several: any of them',
  ],
  ['--storage DRIVER', `${STORE_DRIVERS.join(' or ')} (default sqlite)`],
  ['--file PATH', 'keep the traces there, with postgres in a folder; what has traces is used as it is'],
  ['--dsn URL', 'an empty database, or one of an earlier run, instead of a Postgres that the bench starts'],
  ['--against DIR', 'analytics over HTTP beside those of another checkout (installed, its file PATH.before), with ratios'],
] as const;

/** Reads the options of `bench analytics`. */
export function readAnalyticsPlan(args: readonly string[]): AnalyticsPlan | { readonly problem: string } {
  try {
    const text = { type: 'string' } as const;
    const { values } = parseArgs({
      args: [...args],
      options: {
        traces: text,
        days: text,
        repeats: text,
        storage: text,
        file: text,
        dsn: text,
        against: text,
        only: { ...text, multiple: true },
      },
    });
    const storage = STORE_DRIVERS.find((driver) => driver === (values.storage ?? 'sqlite'));
    if (storage === undefined) return { problem: `--storage must be ${STORE_DRIVERS.join(' or ')}.` };
    if (storage === 'sqlite' && values.dsn !== undefined) return { problem: '--dsn needs --storage postgres.' };
    if (values.only !== undefined && values.against !== undefined) return { problem: '--only does not go with --against.' };
    if (storage === 'postgres' && values.against !== undefined) return { problem: '--against compares SQLite files only.' };
    return {
      traces: whole('--traces', values.traces ?? '5000000', 1_000),
      days: whole('--days', values.days ?? '30', 2),
      repeats: whole('--repeats', values.repeats ?? '40', 1),
      storage,
      dsn: values.dsn,
      file: values.file,
      against: checkoutOf(values.against),
      isWanted: (row) => values.only === undefined || values.only.some((part) => row.includes(part)),
    };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}
