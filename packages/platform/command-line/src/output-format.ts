import { scrub } from '@vitrine/privacy/scrub';
import { stringOption, type CommandContext } from './command.ts';

/** The option of commands that print text or JSON; `help` describes the JSON. */
export const formatOption = (help: string) => ({ ...stringOption('text|json', help), choices: ['text', 'json'] }) as const;

export const FORMAT_OPTION = { format: formatOption('for programs') };

/** A result in the format that `--format` names. */
export function formatResult<T>(format: string | undefined, result: T, toText: (result: T) => string): string {
  return format === 'json' ? jsonText(result) : toText(result);
}

/** Prints a result with credentials redacted, because it may contain data of clients and providers. */
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
