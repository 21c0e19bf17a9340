import { codeOf, Fault, messageOf } from '@vitrine/faults/fault';
import { parseArgs } from 'node:util';
import { COMMON_OPTIONS, usageError, type Command, type CommandContext } from './command.ts';

const DEFAULT_COMMAND = 'serve';

/** Runs the command that the arguments name (`serve` when they name none) and resolves to its exit code. Faults: `unknown_command`, and
 *  those of the command. */
export async function runCommand(
  commands: readonly Command[],
  args: readonly string[],
  context: CommandContext,
): Promise<number> {
  const { words, rest, behind } = splitArgs(commands, args);
  const name = words.join(' ') || DEFAULT_COMMAND;
  const found = commands.find((command) => command.name === name);
  const group = commands.filter((command) => command.name.startsWith(`${name} `));
  const wantsHelp = rest.some((arg) => arg === '--help' || arg === '-h');
  if (wantsHelp && found === undefined && group.length > 0) return print(context, helpOf(group));
  if (wantsHelp && words.length === 0) return print(context, helpOf(commands));
  if (found === undefined) throw new Fault('unknown_command', { say: `unknown command: ${name}` });
  try {
    const given = parseArgs({ args: rest, options: { ...COMMON_OPTIONS, ...found.options }, allowPositionals: true });
    if (wantsHelp) return print(context, `${helpOf([found])}\n${found.help}`);
    if (given.positionals.length < found.words) throw usageError(`${name} needs ${found.usage}`);
    if (given.positionals.length > found.words)
      throw new Fault('unknown_command', { say: `unknown command: ${[name, ...given.positionals].join(' ')}` });
    return await found.run({ values: given.values, words: given.positionals, behind }, context);
  } catch (error) {
    const isUsage = codeOf(error).startsWith('ERR_PARSE_ARGS') || codeOf(error) === 'unknown_command';
    if (!isUsage) throw error;
    context.stderr.write(`gateway: ${messageOf(error)}\n\n${helpOf([found])}\n${found.help}`);
    return 2;
  }
}

/** How commands are called, each with its sentence. */
export function helpOf(commands: readonly Command[]): string {
  const lines = commands.map(({ name, usage }) => `gateway ${name} ${usage}`.trimEnd());
  const width = Math.max(...commands.map(({ name }) => name.length));
  const summaries = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
  return `usage: ${lines.join('\n       ')}\n\n${summaries.join('\n')}\n`;
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
function split(commands: readonly Command[], args: readonly string[]): { words: string[]; rest: string[] } {
  const options = Object.assign({}, ...commands.map((command) => command.options), COMMON_OPTIONS) as Command['options'];
  const { tokens } = parseArgs({ args: [...args], options, allowPositionals: true, strict: false, tokens: true });
  const positionals = tokens.filter((token) => token.kind === 'positional');
  const [first, second] = positionals;
  const isGroup = commands.some((command) => command.name.startsWith(`${first?.value} `));
  const taken = [first, isGroup ? second : undefined].filter((token) => token !== undefined);
  return {
    words: taken.map(({ value }) => value),
    rest: args.filter((_, i) => !taken.some(({ index }) => index === i)),
  };
}

function print(context: CommandContext, text: string): number {
  context.stdout.write(text);
  return 0;
}
