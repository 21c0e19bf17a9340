import { parseArgs } from 'node:util';
import { checkoutOf, whole } from '../proxy/proxy-plan.ts';

export interface AnalyticsPlan {
  readonly traces: number;
  readonly days: number;
  /** How often each query is run. */
  readonly repeats: number;
  /** The file that keeps the traces for another run; undefined: none. */
  readonly file: string | undefined;
  /** Another checkout: its gateway runs beside this one's, over HTTP only. */
  readonly against: URL | undefined;
}

export const ANALYTICS_OPTIONS = [
  ['--traces N', 'traces to load (default 5000000)'],
  ['--days N', 'days over which they are spread (default 30)'],
  ['--repeats N', 'times that each query is run (default 40)'],
  ['--file PATH', 'keep the traces there; a file with traces is used as it is'],
  ['--against DIR', 'analytics over HTTP beside those of another checkout (installed, its file PATH.before), with ratios'],
] as const;

/** Reads the options of `bench analytics`. */
export function readAnalyticsPlan(args: readonly string[]): AnalyticsPlan | { readonly problem: string } {
  try {
    const text = { type: 'string' } as const;
    const { values } = parseArgs({
      args: [...args],
      options: { traces: text, days: text, repeats: text, file: text, against: text },
    });
    return {
      traces: whole('--traces', values.traces ?? '5000000', 1_000),
      days: whole('--days', values.days ?? '30', 2),
      repeats: whole('--repeats', values.repeats ?? '40', 1),
      file: values.file,
      against: checkoutOf(values.against),
    };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}
