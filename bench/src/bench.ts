/** One measured figure. `metric` is `subject.figure` (`bare.req_per_s`); baseline and ratio only where there is one.
 *  `ratio` is the median over rounds of the ratio within a round, so it may differ a little from value / baseline. */
export interface BenchRow {
  readonly case: string;
  readonly metric: string;
  readonly value: number;
  readonly unit: string;
  readonly baseline?: number;
  readonly ratio?: number;
}

/** The result of a bench. Every line of `broken` is a violated promise; one is enough for exit status 1. */
export interface BenchOutcome {
  readonly rows: readonly BenchRow[];
  readonly broken: readonly string[];
}

export type Progress = (line: string) => void;
export type BenchRun = (progress: Progress) => Promise<BenchOutcome>;

/** One bench under the command `bench <name>`. `prepare` reads its options and starts nothing. */
export interface Bench {
  readonly name: string;
  readonly sentence: string;
  readonly options: readonly (readonly [flag: string, meaning: string])[];
  readonly examples: readonly string[];
  prepare(args: readonly string[]): { readonly run: BenchRun } | { readonly problem: string };
}
