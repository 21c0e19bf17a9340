import { usageError } from './command.ts';

/** The option of commands that print for people and for programs. */
export const FORMAT_OPTION = { format: { type: 'string' } } as const;

/** Whether JSON is wanted; anything but `text` and `json` is a usage error. */
export function wantsJson(format: string | undefined): boolean {
  if (format !== undefined && format !== 'text' && format !== 'json') throw usageError('--format must be text or json');
  return format === 'json';
}

/** Anything as indented JSON with a line feed. */
export function jsonText(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
