import type { ChildEnd, ChildProgram } from '@vitrine/lifecycle/run-child';
import { parseArgs } from 'node:util';

/** Options of a command, as `parseArgs` of node takes them. */
export type CommandOptions = Readonly<
  Record<string, { readonly type: 'string' | 'boolean'; readonly short?: string; readonly multiple?: boolean }>
>;

type Values<O extends CommandOptions> = ReturnType<typeof parseArgs<{ options: O }>>['values'];

/** What a command gets of its process. */
export interface CommandContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: { write(text: string): void };
  readonly stderr: { write(text: string): void };
  /** Resolves when the process is told to stop, with the signal's name. */
  readonly untilStopped: () => Promise<string>;
  /** From now on a bug costs what it happened in, and not the process. */
  readonly surviveBugs: (report: (error: unknown) => void) => void;
  /** Runs another program on the standard streams of this one; see `runChild`. */
  readonly runChild: (program: ChildProgram) => Promise<ChildEnd>;
}

/** One command of the command line. Every command also has `--config FILE` and `--help`. */
export interface Command<O extends CommandOptions = CommandOptions> {
  /** One word, or two when it is one of a group: `keys create`. */
  readonly name: string;
  /** One sentence for the list of commands. */
  readonly summary: string;
  /** What stands behind the name, such as `ID [--format text|json]`. */
  readonly usage: string;
  /** What its options mean, and examples. */
  readonly help: string;
  readonly options: O;
  /** How many words it takes beside its options. */
  readonly words: number;
  /** Whether it takes what stands behind `--` as it is, because that is another program's. */
  readonly runsAnother?: boolean;
  /** Resolves to the exit code: 0, or 1 when it found something wrong. Faults end it with 1, `usageError` with 2. */
  readonly run: (input: CommandInput<O>, context: CommandContext) => Promise<number>;
}

export interface CommandInput<O extends CommandOptions> {
  readonly values: Values<O & typeof COMMON_OPTIONS>;
  readonly words: readonly string[];
  /** What stands behind `--`, of a command that runs another program. */
  readonly behind?: readonly string[] | undefined;
}

/** What every command takes. */
export const COMMON_OPTIONS = {
  config: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies CommandOptions;

/** Lets a command's options type what it is given. */
export function command<const O extends CommandOptions>(of: Command<O>): Command {
  return of as unknown as Command;
}

/** What a command throws when it was called wrongly: its help is shown, and the exit code is 2. */
export function usageError(message: string): Error {
  return Object.assign(new TypeError(message), { code: 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE' });
}
