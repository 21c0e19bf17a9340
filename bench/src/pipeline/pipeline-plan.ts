import { parseArgs } from 'node:util';
import { whole } from '../proxy/proxy-plan.ts';

export interface PipelinePlan {
  /** Traces in the topic before writers start. */
  readonly traces: number;
  readonly rounds: number;
  readonly seconds: number;
  /** Numbers of trace-writers to measure, one after the other. */
  readonly writers: readonly number[];
  /** Traces that are published each second meanwhile. */
  readonly load: number;
  /** Rounds of the proxy bench's measure with `queue.driver: kafka`; 0: none. */
  readonly proxyRounds: number;
}

export const PIPELINE_OPTIONS = [
  ['--traces N', 'traces in the topic before writers start (default 80000); writers must not reach its end'],
  ['--rounds N', 'rounds (default 3); writers and the COPY take turns within a round, figures are medians'],
  ['--seconds N', 'seconds per round and number of writers (default 4)'],
  ['--writers A,B', 'numbers of trace-writers (default 1,2,4)'],
  ['--load N', 'traces published each second while writers and the COPY are measured (default 1000)'],
  ['--proxy-rounds N', 'rounds of the proxy with queue.driver: kafka beside the bare forwarder (default 6); 0: none'],
] as const;

/** Reads the options of `bench pipeline`. */
export function readPipelinePlan(args: readonly string[]): PipelinePlan | { readonly problem: string } {
  try {
    const text = { type: 'string' } as const;
    const options = { traces: text, rounds: text, seconds: text, writers: text, load: text, 'proxy-rounds': text };
    const { values } = parseArgs({ args: [...args], options });
    return {
      traces: whole('--traces', values.traces ?? '80000', 1_000),
      rounds: whole('--rounds', values.rounds ?? '3', 0),
      seconds: whole('--seconds', values.seconds ?? '4', 1),
      writers: (values.writers ?? '1,2,4').split(',').map((count) => whole('--writers', count, 1)),
      load: whole('--load', values.load ?? '1000', 0),
      proxyRounds: whole('--proxy-rounds', values['proxy-rounds'] ?? '6', 0),
    };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}
