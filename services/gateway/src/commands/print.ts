import { scrub } from '@vitrine/privacy/scrub';
import type { CommandContext } from './command.ts';
import { jsonText } from './output-format.ts';

/** Prints what may hold what clients and providers sent: without credentials. */
export function printText({ stdout }: Pick<CommandContext, 'stdout'>, text: string): void {
  stdout.write(scrub(text).text);
}

/** The same as JSON. */
export function printJson(context: Pick<CommandContext, 'stdout'>, value: unknown): void {
  printText(context, jsonText(value));
}
