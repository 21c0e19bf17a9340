import { parseArgs } from 'node:util';

export interface AnalyticsPlan {
  readonly traces: number;
  readonly days: number;
  /** How often each question is asked. */
  readonly repeats: number;
  /** Where the traces stay for another run; undefined: nowhere. */
  readonly file: string | undefined;
}

export const ANALYTICS_OPTIONS = [
  ['--traces N', 'traces to load, 5000000 unless told'],
  ['--days N', 'days over which they are spread, 30 unless told'],
  ['--repeats N', 'times that each question is asked, 40 unless told'],
  ['--file PATH', 'keep the traces there, and load none when they are there already'],
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
