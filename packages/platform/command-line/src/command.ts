import type { ChildExit, ChildProgram } from '@vitrine/lifecycle/run-child';
import type { parseArgs } from 'node:util';

/** Options of a command, as `parseArgs` of node takes them. */
export type CommandOptions = Readonly<Record<string, CommandOption>>;

interface CommandOption {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  readonly multiple?: boolean;
  /** The values that the option accepts; any text when absent. */
  readonly choices?: readonly string[];
}

type Values<O extends CommandOptions> = ReturnType<typeof parseArgs<{ options: O }>>['values'];

/** What a command uses of its process. */
export interface CommandContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: { write(text: string): void };
  readonly stderr: { write(text: string): void };
  /** Resolves with the name of the signal that asks the process to stop. */
  readonly untilSignal: () => Promise<string>;
  /** Reports uncaught exceptions from now on, instead of ending the process. */
  readonly handleUncaught: (report: (error: unknown) => void) => void;
  /** Runs another program on the standard streams of this one; see `runChild`. */
  readonly runChild: (program: ChildProgram) => Promise<ChildExit>;
}

/** One command of a command line. Every command also has `--config FILE` and `--help`. */
export interface Command<O extends CommandOptions = CommandOptions> {
  /** One word, or two for a command of a group: `keys create`. */
  readonly name: string;
  /** One sentence for the list of commands. */
  readonly summary: string;
  /** The synopsis behind the name, such as `ID [--format text|json]`. */
  readonly usage: string;
  /** The meaning of its options, and examples. */
  readonly help: string;
  readonly options: O;
  /** The number of positional arguments; 0 by default. */
  readonly positionals?: number;
  /** Whether the arguments behind `--` are passed to a child program unparsed. */
  readonly runsChild?: boolean;
  /** Resolves to the exit code: 0, or 1 for a negative result. A fault ends the command with 1, `usageError` with 2. */
  run(input: CommandInput<O>, context: CommandContext): Promise<number>;
}

interface CommandInput<O extends CommandOptions> {
  readonly values: Values<O & typeof COMMON_OPTIONS>;
  readonly positionals: readonly string[];
  /** The arguments behind `--` of a command with `runsChild`. */
  readonly childArgs?: readonly string[] | undefined;
}

/** The options of every command. */
export const COMMON_OPTIONS = {
  config: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies CommandOptions;

/** A program with its commands. */
export interface CommandLine {
  /** Shown in help and before errors; also the npm script that starts the program. */
  readonly name: string;
  /** In the order of the help text. */
  readonly commands: readonly Command[];
  /** The command that runs when the arguments name none. */
  readonly defaultCommand: string;
}

/** Types the input of a command by its options. */
export function command<const O extends CommandOptions>(of: Command<O>): Command {
  return of;
}
