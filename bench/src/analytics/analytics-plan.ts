import { parseArgs } from 'node:util';

export interface AnalyticsPlan {
  readonly traces: number;
  readonly days: number;
  /** How often each query is run. */
  readonly repeats: number;
  /** The file that keeps the traces for another run; undefined: none. */
  readonly file: string | undefined;
}

export const ANALYTICS_OPTIONS = [
  ['--traces N', 'traces to load (default 5000000)'],
  ['--days N', 'days over which they are spread (default 30)'],
  ['--repeats N', 'times that each query is run (default 40)'],
  ['--file PATH', 'keep the traces there; a file with traces is used as it is'],
] as const;

/** Reads the options of `bench analytics`. */
export function readAnalyticsPlan(args: readonly string[]): AnalyticsPlan | { readonly problem: string } {
  try {
    const text = { type: 'string' } as const;
    const { values } = parseArgs({ args: [...args], options: { traces: text, days: text, repeats: text, file: text } });
    return {
      traces: whole('--traces', values.traces ?? '5000000', 1_000),
      days: whole('--days', values.days ?? '30', 2),
      repeats: whole('--repeats', values.repeats ?? '40', 1),
      file: values.file,
    };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

function whole(option: string, text: string, least: number): number {
  const value = Number(text);
  if (text === '' || !Number.isInteger(value) || value < least)
    throw new Error(`${option} wants a whole number from ${least}, not "${text}".`);
  return value;
}
