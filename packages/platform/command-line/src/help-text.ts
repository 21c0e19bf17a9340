import type { Command, CommandLine, CommandOptions } from './command.ts';

/** The synopses of all commands of a program, or of some of them, each with its summary. */
export function helpText({ name: program, commands: all }: CommandLine, commands: readonly Command[] = all): string {
  const lines = commands.map((command) => `${program} ${command.name} ${synopsisOf(command)}`.trimEnd());
  const width = Math.max(...commands.map(({ name }) => name.length));
  const summaries = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
  const common = `\nEvery command has --help (-h). ${program} --version (-v) prints the version.\n`;
  return `usage: ${lines.join('\n       ')}\n\n${summaries.join('\n')}\n${commands.length === 1 ? '' : common}`;
}

/** The help of one command: synopsis, summary, options, text and examples. */
export function commandHelp(program: CommandLine, command: Command): string {
  const options = command.usage === undefined ? optionLines(command.options) : '';
  const sections = [options, command.help ?? '', exampleLines(program, command)];
  const shown = sections.filter((section) => section !== '').map((section) => `\n${section.trimEnd()}\n`);
  return `${helpText(program, [command])}${shown.join('')}`;
}

/** The arguments of a command after its name. */
export function synopsisOf({ argument = '', usage, options, runsChild }: Command): string {
  const shown = Object.entries(options).filter(([, { value, help }]) => value !== undefined || help !== undefined);
  const parts = shown.map(([name, { value, required, multiple }]) => {
    const option = value === undefined ? `--${name}` : `--${name} ${value}`;
    return `${required === true ? option : `[${option}]`}${multiple === true ? '...' : ''}`;
  });
  const child = runsChild === true ? '-- COMMAND [ARGUMENT...]' : '';
  return usage ?? [argument, ...parts, child].filter((part) => part !== '').join(' ');
}

function optionLines(options: CommandOptions): string {
  const lines = Object.entries(options).flatMap(([name, { value, help }]) =>
    help === undefined ? [] : [[value === undefined ? `--${name}` : `--${name} ${value.split('|').at(-1)}`, help] as const],
  );
  const width = Math.max(...lines.map(([label]) => label.length));
  const indented = (help: string) => help.replaceAll('\n', `\n${' '.repeat(width + 4)}`);
  return lines.map(([label, help]) => `  ${label.padEnd(width)}  ${indented(help)}\n`).join('');
}

/** JSON is for other programs. With -s, npm prints no lines of its own before it. */
function exampleLines({ name: program }: CommandLine, { name, examples = [] }: Command): string {
  const [word = ''] = name.split(' ');
  const lines = examples.map((example) => {
    const script = example.includes('--format json') ? `npm run -s ${program}` : `npm run ${program}`;
    return `  ${example.split(' ')[0] === word ? `${script} -- ${example}` : example}\n`;
  });
  return lines.length === 0 ? '' : `Example${lines.length === 1 ? '' : 's'}:\n${lines.join('')}`;
}
