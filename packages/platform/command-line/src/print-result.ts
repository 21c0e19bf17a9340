import { scrub } from '@vitrine/privacy/scrub';
import { stringOption, type CommandContext } from './command.ts';

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
