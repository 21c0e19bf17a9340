import type { ChildExit, ChildProgram } from '@vitrine/lifecycle/run-child';
import type { parseArgs } from 'node:util';
import { codeOf } from '@vitrine/faults/fault';

/** Options of a command, in the order of its synopsis and help. Node's `parseArgs` reads the first three fields. */
export type CommandOptions = Readonly<Record<string, CommandOption>>;

interface CommandOption {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  readonly multiple?: boolean;
  /** The values that the option accepts; any text when absent. */
  readonly choices?: readonly string[];
  /** If true, a missing option is a usage error. */
  readonly required?: boolean;
  /** The placeholder of its value, such as `ID`. Of `text|json` the help explains the last. */
  readonly value?: string;
  /** Explains the option in the help. An option with neither `help` nor `value` is not in the synopsis. */
  readonly help?: string;
}

/** An option with a value; `value` is its placeholder. */
export const stringOption = (value: string, help: string) => ({ type: 'string', value, help }) as const;

export const switchOption = (help: string) => ({ type: 'boolean', help }) as const;

type Values<O extends CommandOptions> = ReturnType<typeof parseArgs<{ options: O }>>['values'] & {
  readonly [name in keyof O as O[name] extends { readonly required: true } ? name : never]: string;
};

/** The parts of its process that a command uses. */
export interface CommandContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: { write(text: string): void };
  readonly stderr: { write(text: string): void };
  /** Resolves with the name of the signal that asks the process to stop. */
  readonly untilSignal: () => Promise<string>;
  /** From now on reports uncaught exceptions instead of ending the process. */
  readonly handleUncaught: (report: (error: unknown) => void) => void;
  /** Runs another program on the standard streams of this process; see `runChild`. */
  readonly runChild: (program: ChildProgram) => Promise<ChildExit>;
}

/** One command of a command line. Every command also has `--config FILE` and `--help`. */
export interface Command<O extends CommandOptions = CommandOptions> {
  /** One word, or two for a command of a group: `keys create`. */
  readonly name: string;
  /** One sentence for the list of commands. */
  readonly summary: string;
  /** The placeholder of its positional argument, such as `ID`; a command without it accepts none. */
  readonly argument?: string;
  /** The help below the options. */
  readonly help?: string;
  /** Program arguments starting with the command, or other shell lines. */
  readonly examples?: readonly string[];
  readonly options: O;
  /** Whether the arguments after `--` are passed to a child program unparsed. */
  readonly runsChild?: boolean;
  /** Resolves to the exit code: 0, or 1 for a negative result. A fault ends the command with 1, `usageError` with 2. */
  run(input: CommandInput<O>, context: CommandContext): Promise<number>;
}

interface CommandInput<O extends CommandOptions> {
  readonly values: Values<O & typeof COMMON_OPTIONS>;
  readonly positionals: readonly string[];
  /** The arguments after `--` of a command with `runsChild`. */
  readonly childArgs?: readonly string[] | undefined;
}

/** The options of every command. */
export const COMMON_OPTIONS = {
  config: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies CommandOptions;

/** A program with its commands. */
export interface CommandLine {
  /** Shown in help and before errors. Also the name of the npm script that starts the program. */
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

/** Wrong arguments: the help text is shown, and the exit code is 2. */
export function usageError(message: string): Error {
  return Object.assign(new TypeError(message), { code: 'wrong_usage' });
}

/** Whether an error is from `usageError`, or the fault `unknown_command`. */
export function isUsageError(error: unknown): boolean {
  return ['wrong_usage', 'unknown_command'].includes(codeOf(error));
}
