import type { Command, CommandLine } from './command.ts';

/** The synopses of all commands of a program, or of some of them, each with its summary. */
export function helpText({ name: program, commands: all }: CommandLine, commands: readonly Command[] = all): string {
  const lines = commands.map(({ name, usage }) => `${program} ${name} ${usage}`.trimEnd());
  const width = Math.max(...commands.map(({ name }) => name.length));
  const summaries = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
  const common = `\nEvery command has --help (-h). ${program} --version (-v) prints the version.\n`;
  return `usage: ${lines.join('\n       ')}\n\n${summaries.join('\n')}\n${commands.length === 1 ? '' : common}`;
}
