import { scrub } from '@vitrine/privacy/scrub';
import type { CommandContext } from './command.ts';

/** The option of commands that print text or JSON. */
export const FORMAT_OPTION = { format: { type: 'string', choices: ['text', 'json'] } } as const;

/** A result in the format that `--format` names. */
export function formatResult<T>(format: string | undefined, result: T, toText: (result: T) => string): string {
  return format === 'json' ? jsonText(result) : toText(result);
}

/** Prints a result that may hold what clients and providers sent: without credentials. */
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
