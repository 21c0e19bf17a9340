import type { ChildExit, ChildProgram } from '@vitrine/lifecycle/run-child';
import type { parseArgs } from 'node:util';
import { codeOf } from '@vitrine/faults/fault';
import { parseDuration } from '@vitrine/config/durations';
import { scrub } from '@vitrine/privacy/scrub';

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
  return Object.assign(new TypeError(message), { code: 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE' });
}

/** Whether an error is from `usageError`, from `parseArgs` of node, or the fault `unknown_command`. */
export function isUsageError(error: unknown): boolean {
  return codeOf(error).startsWith('ERR_PARSE_ARGS') || codeOf(error) === 'unknown_command';
}

/** The text of an option as a whole number from `min` to `max`; anything else is a usage error. */
export function wholeNumberOption(option: string, text: string | undefined, min: number, max: number): number | undefined {
  if (text === undefined) return undefined;
  const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!(number >= min && number <= max)) throw usageError(`${option} must be a whole number from ${min} to ${max}`);
  return number;
}

/** The text of an option as milliseconds from `minMs` to `maxMs`: a whole number of them, or a duration such as `5s`; anything else is
 *  a usage error. */
export function durationOption(option: string, text: string | undefined, minMs: number, maxMs: number): number | undefined {
  if (text === undefined) return undefined;
  const ms = /^\d{1,15}$/.test(text) ? Number(text) : parseDuration(text);
  if (ms === undefined || ms < minMs || ms > maxMs)
    throw usageError(`${option} must be ${minMs} to ${maxMs} milliseconds, or a duration such as 5s`);
  return ms;
}

/** The text of an option as an http:// or https:// URL without slashes at its end; anything else is a usage error. */
export function httpUrlOption(option: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const isHttp = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  if (!isHttp) throw usageError(`${option} must be an http:// or https:// URL`);
  return text.replace(/(?<!\/)\/+$/, '');
}

/** Rows as aligned columns below their heads. Cells may come from clients: control characters, which could move a terminal's cursor,
 *  are shown as `?`. */
export function textTable(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [heads, ...rows].map((cells) => cells.map((cell) => cell.replace(/\p{C}/gu, '?')));
  const widths = heads.map((_, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)));
  const pad = (cells: readonly string[]) => cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ');
  return lines.map((cells) => `${pad(cells).trimEnd()}\n`).join('');
}

/** The option of commands that print text or JSON; `help` says what the JSON is. */
export const formatOption = (help: string) => ({ ...stringOption('text|json', help), choices: ['text', 'json'] }) as const;

export const FORMAT_OPTION = { format: formatOption('for programs') };

/** A result in the format that `--format` names. */
export function formatResult<T>(format: string | undefined, result: T, toText: (result: T) => string): string {
  return format === 'json' ? jsonText(result) : toText(result);
}

/** Prints a result without credentials: it may contain what clients and providers sent. */
export function printResult<T>(
  { stdout }: Pick<CommandContext, 'stdout'>,
  format: string | undefined,
  result: T,
  toText: (result: T) => string,
): void {
  stdout.write(scrub(formatResult(format, result, toText)).text);
}

/** Indented JSON with a line feed at its end. */
export function jsonText(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

/** Time before the first line of progress, and between two lines. */
const INTERVAL_MS = 2_000;

interface ProgressOptions {
  /** The number of items at the end. */
  readonly total: number;
  /** The counted items, in the plural. */
  readonly items: string;
  readonly stderr: CommandContext['stderr'];
  /** A monotonic clock, milliseconds. */
  readonly now?: () => number;
}

/** Prints how many items are done, their rate and the time left, at most every two seconds. */
export function createProgress({ total, items, stderr, now = () => performance.now() }: ProgressOptions): (done: number) => void {
  const startedAt = now();
  let next = startedAt + INTERVAL_MS;
  return (done) => {
    if (now() < next) return;
    next = now() + INTERVAL_MS;
    const perSecond = done / ((now() - startedAt) / 1_000);
    const left = Math.max(0, Math.ceil((total - done) / perSecond));
    const percent = Math.min(100, Math.floor((100 * done) / Math.max(1, total)));
    stderr.write(`${done} of ${total} ${items} (${percent} %), ${Math.round(perSecond)} per second, about ${left} s left\n`);
  };
}
