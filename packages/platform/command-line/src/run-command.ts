import { Fault, messageOf } from '@vitrine/faults/fault';
import { parseArgs } from 'node:util';
import { COMMON_OPTIONS, type Command, type CommandContext, type CommandLine, type CommandOptions } from './command.ts';
import { commandHelp, helpText, synopsisOf } from './help-text.ts';
import { isUsageError, usageError } from './usage-error.ts';

/** Runs the command that the arguments name and resolves to its exit code. Faults: `unknown_command`, and those of the command. */
export async function runCommand(program: CommandLine, args: readonly string[], context: CommandContext): Promise<number> {
  const { commands, defaultCommand } = program;
  const { words, rest, isVersion, childArgs } = splitChildArgs(commands, args);
  const name = words.join(' ') || (isVersion ? 'version' : defaultCommand);
  const found = commands.find((command) => command.name === name);
  const group = commands.filter((command) => command.name.startsWith(`${name} `));
  const wantsHelp = rest.some((arg) => arg === '--help' || arg === '-h');
  if (wantsHelp && found === undefined && group.length > 0) return print(context, helpText(program, group));
  if (wantsHelp && words.length === 0 && commands.length > 1) return print(context, helpText(program));
  if (found === undefined) throw new Fault('unknown_command', { say: `unknown command: ${name}` });
  const help = commandHelp(program, found);
  try {
    const { values, positionals } = parseRest(found, rest);
    if (wantsHelp) return print(context, help);
    if (found.argument !== undefined && positionals.length === 0) throw usageError(`${name} needs ${synopsisOf(found)}`);
    if (positionals.length > (found.argument === undefined ? 0 : 1))
      throw new Fault('unknown_command', { say: `unknown command: ${[name, ...positionals].join(' ')}` });
    for (const [option, { required }] of Object.entries(found.options))
      if (required === true && values[option] === undefined) throw usageError(`--${option} is required`);
    return await found.run({ values, positionals, childArgs }, context);
  } catch (error) {
    if (!isUsageError(error)) throw error;
    context.stderr.write(`${program.name}: ${messageOf(error)}\n\n${help}`);
    return 2;
  }
}

function parseRest(command: Command, args: readonly string[]) {
  const options: CommandOptions = { ...COMMON_OPTIONS, ...command.options };
  const input = parseArgs({ args: [...args], options, allowPositionals: true, tokens: true });
  checkOptions(input.tokens, options);
  return input;
}

/**
 * If an option is given twice, only the last value would count. An empty value is usually an unset shell variable. In both cases the
 * command could show or sum up more than intended.
 */
function checkOptions(tokens: ReturnType<typeof parseArgs>['tokens'], options: CommandOptions): void {
  const seen = new Set<string>();
  for (const token of tokens ?? []) {
    const option = token.kind === 'option' ? options[token.name] : undefined;
    if (token.kind !== 'option' || option?.type !== 'string') continue;
    const { name, value = '' } = token;
    if (value.trim() === '') throw usageError(`--${name} must not be empty`);
    if (seen.has(name) && option.multiple !== true) throw usageError(`--${name} is given twice`);
    if (option.choices?.includes(value) === false)
      throw usageError(`--${name} must be ${option.choices.join(' or ')}; got "${value}"`);
    seen.add(name);
  }
}

/** `split`; of a command with `runsChild`, only the arguments before `--`. */
function splitChildArgs(
  commands: readonly Command[],
  args: readonly string[],
): ReturnType<typeof split> & { childArgs?: readonly string[] } {
  const end = args.indexOf('--');
  const before = end < 0 ? undefined : split(commands, args.slice(0, end));
  const runsChild = commands.some(({ name, runsChild }) => runsChild === true && name === before?.words.join(' '));
  return before === undefined || !runsChild ? split(commands, args) : { ...before, childArgs: args.slice(end + 1) };
}

/**
 * The words of the command's name, and all other arguments in their order. Options may precede the command, so this parses the options
 * of all commands: the value of an option is not a word of a name.
 */
function split(commands: readonly Command[], args: readonly string[]): { words: string[]; rest: string[]; isVersion: boolean } {
  const options = Object.assign({}, ...commands.map((command) => command.options), COMMON_OPTIONS) as CommandOptions;
  const { tokens } = parseArgs({ args: [...args], options, allowPositionals: true, strict: false, tokens: true });
  const positionals = tokens.filter((token) => token.kind === 'positional');
  const [first, second] = positionals;
  const isGroup = commands.some((command) => command.name.startsWith(`${first?.value} `));
  const words = [first, isGroup ? second : undefined].filter((token) => token !== undefined);
  const versions = tokens.filter((token) => token.kind === 'option' && ['--version', '-v'].includes(token.rawName));
  const isVersion = words.length === 0 && versions.length > 0;
  const dropped = isVersion ? versions : words;
  return {
    words: words.map(({ value }) => value),
    rest: args.filter((_, i) => !dropped.some(({ index }) => index === i)),
    isVersion,
  };
}

function print(context: CommandContext, text: string): number {
  context.stdout.write(text);
  return 0;
}
