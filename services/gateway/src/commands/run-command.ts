import { codeOf, Fault, messageOf } from '@vitrine/faults/fault';
import { parseArgs } from 'node:util';
import { COMMON_OPTIONS, usageError, type Command, type CommandContext, type CommandOptions } from './command.ts';

const DEFAULT_COMMAND = 'serve';

/** Runs the command that the arguments name (`serve` when they name none) and resolves to its exit code. Faults: `unknown_command`, and
 *  those of the command. */
export async function runCommand(
  commands: readonly Command[],
  args: readonly string[],
  context: CommandContext,
): Promise<number> {
  const { words, rest, asksVersion, behind } = splitArgs(commands, args);
  const name = words.join(' ') || (asksVersion ? 'version' : DEFAULT_COMMAND);
  const found = commands.find((command) => command.name === name);
  const group = commands.filter((command) => command.name.startsWith(`${name} `));
  const wantsHelp = rest.some((arg) => arg === '--help' || arg === '-h');
  if (wantsHelp && found === undefined && group.length > 0) return print(context, helpOf(group));
  if (wantsHelp && words.length === 0) return print(context, helpOf(commands));
  if (found === undefined) throw new Fault('unknown_command', { say: `unknown command: ${name}` });
  try {
    const options = { ...COMMON_OPTIONS, ...found.options };
    const input = parseArgs({ args: rest, options, allowPositionals: true, tokens: true });
    if (wantsHelp) return print(context, `${helpOf([found])}\n${found.help}`);
    if (input.positionals.length < found.words) throw usageError(`${name} needs ${found.usage}`);
    if (input.positionals.length > found.words)
      throw new Fault('unknown_command', { say: `unknown command: ${[name, ...input.positionals].join(' ')}` });
    refuseUnclear(input.tokens, options);
    return await found.run({ values: input.values, words: input.positionals, behind }, context);
  } catch (error) {
    const isUsage = codeOf(error).startsWith('ERR_PARSE_ARGS') || codeOf(error) === 'unknown_command';
    if (!isUsage) throw error;
    context.stderr.write(`gateway: ${messageOf(error)}\n\n${helpOf([found])}\n${found.help}`);
    return 2;
  }
}

/** Of an option that is given twice only the last value would count, and one that is empty is mostly a variable of a shell that is not
 *  set: it must not show or sum up more than was meant. */
function refuseUnclear(tokens: ReturnType<typeof parseArgs>['tokens'], options: CommandOptions): void {
  const seen = new Set<string>();
  for (const token of tokens ?? []) {
    if (token.kind !== 'option' || options[token.name]?.type !== 'string') continue;
    if (token.value?.trim() === '') throw usageError(`--${token.name} must not be empty`);
    if (seen.has(token.name) && options[token.name]?.multiple !== true) throw usageError(`--${token.name} is given twice`);
    seen.add(token.name);
  }
}

/** How commands are called, each with its sentence. */
export function helpOf(commands: readonly Command[]): string {
  const lines = commands.map(({ name, usage }) => `gateway ${name} ${usage}`.trimEnd());
  const width = Math.max(...commands.map(({ name }) => name.length));
  const summaries = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
  const common = commands.length === 1 ? '' : '\nEvery command has --help (-h). gateway --version (-v) prints the version.\n';
  return `usage: ${lines.join('\n       ')}\n\n${summaries.join('\n')}\n${common}`;
}

/** `split`; a command that runs another program does not look behind `--`, where all is that program's. */
function splitArgs(commands: readonly Command[], args: readonly string[]): ReturnType<typeof split> & { behind?: string[] } {
  const end = args.indexOf('--');
  const before = end < 0 ? undefined : split(commands, args.slice(0, end));
  const runsAnother = commands.some(({ name, runsAnother }) => runsAnother === true && name === before?.words.join(' '));
  return before === undefined || !runsAnother ? split(commands, args) : { ...before, behind: args.slice(end + 1) };
}

/** The command's words, and everything else in its order. Options may stand before the command, so all options of all commands are
 *  known here: the value of one is no word. */
function split(commands: readonly Command[], args: readonly string[]): { words: string[]; rest: string[]; asksVersion: boolean } {
  const options = Object.assign({}, ...commands.map((command) => command.options), COMMON_OPTIONS) as Command['options'];
  const { tokens } = parseArgs({ args: [...args], options, allowPositionals: true, strict: false, tokens: true });
  const positionals = tokens.filter((token) => token.kind === 'positional');
  const [first, second] = positionals;
  const isGroup = commands.some((command) => command.name.startsWith(`${first?.value} `));
  const taken = [first, isGroup ? second : undefined].filter((token) => token !== undefined);
  const version = tokens.filter((token) => token.kind === 'option' && ['--version', '-v'].includes(token.rawName));
  const isVersion = taken.length === 0 && version.length > 0;
  const dropped = isVersion ? version : taken;
  return {
    words: taken.map(({ value }) => value),
    rest: args.filter((_, i) => !dropped.some(({ index }) => index === i)),
    asksVersion: isVersion,
  };
}

function print(context: CommandContext, text: string): number {
  context.stdout.write(text);
  return 0;
}
