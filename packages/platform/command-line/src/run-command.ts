import { didYouMean } from '@vitrine/config/did-you-mean';
import { Fault, messageOf } from '@vitrine/faults/fault';
import { parseArgs } from 'node:util';
import {
  COMMON_OPTIONS,
  type Command,
  type CommandContext,
  type CommandLine,
  type CommandOptions,
  isUsageError,
  usageError,
} from './command.ts';

/** Runs the command that the arguments name and resolves to its exit code. Faults: `unknown_command`, and those of the command. */
export async function runCommand(program: CommandLine, args: readonly string[], context: CommandContext): Promise<number> {
  const { commands, defaultCommand } = program;
  const { words, rest, isVersion, childArgs, unknown } = splitChildArgs(commands, args);
  const name = words.join(' ') || (isVersion ? 'version' : defaultCommand);
  const found = commands.find((command) => command.name === name);
  const group = commands.filter((command) => command.name.startsWith(`${name} `));
  const wantsHelp = rest.some((arg) => arg === '--help' || arg === '-h');
  if (wantsHelp && found === undefined && group.length > 0) return print(context, helpText(program, group));
  if (wantsHelp && words.length === 0 && commands.length > 1) return print(context, helpText(program));
  // Its value would be taken for the command.
  if (found === undefined && unknown !== undefined) throw unknownOption(unknown, optionsOf(commands));
  if (found === undefined) throw unknownCommand(name, rest[0], commands);
  const help = commandHelp(program, found);
  try {
    const { values, positionals } = parseRest(found, rest);
    if (wantsHelp) return print(context, help);
    if (found.argument !== undefined && positionals.length === 0) throw usageError(`${name} needs ${synopsisOf(found)}`);
    const unexpected = positionals[found.argument === undefined ? 0 : 1];
    if (unexpected !== undefined) throw usageError(`unexpected argument: ${unexpected}`);
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
  // Not strict, because Node's texts would be printed.
  const input = parseArgs({ args: [...args], options, allowPositionals: true, strict: false, tokens: true });
  checkOptions(input.tokens, options);
  return input as ReturnType<typeof parseArgs<{ options: CommandOptions; allowPositionals: true }>>;
}

/** `next`: the argument behind the name, which completes a mistyped group. */
function unknownCommand(name: string, next: string | undefined, commands: readonly Command[]): Fault {
  const inGroup = commands.flatMap((one) => (one.name.startsWith(`${name} `) ? [one.name.slice(name.length + 1)] : []));
  if (inGroup.length > 0) return new Fault('unknown_command', { say: `${name} needs a command: ${inGroup.join(', ')}` });
  const known = new Set(commands.flatMap((one) => [one.name, one.name.split(' ', 1).join('')]));
  const nearest = didYouMean(`${name} ${next}`, [...known]) || didYouMean(name, [...known]);
  return new Fault('unknown_command', { say: `unknown command: ${name}${nearest}` });
}

function unknownOption(name: string, options: CommandOptions): Error {
  const known = Object.keys(options).map((one) => `--${one}`);
  return usageError(`unknown option: ${name}${didYouMean(name, known)}`);
}

type OptionToken = Extract<NonNullable<ReturnType<typeof parseArgs>['tokens']>[number], { readonly kind: 'option' }>;

/** Throws for an option that does not exist, or whose value is missing or too many. */
function checkOption(
  { rawName, value, inlineValue }: OptionToken,
  option: CommandOptions[string] | undefined,
  options: CommandOptions,
): void {
  if (option === undefined) throw unknownOption(rawName, options);
  if (option.type === 'boolean' && value !== undefined) throw usageError(`${rawName} takes no value`);
  if (option.type !== 'string') return;
  if (value === undefined) throw usageError(`${rawName} needs a value`);
  // Usually the value was forgotten, and this is the next option.
  if (!inlineValue && value.startsWith('-'))
    throw usageError(`${rawName} needs a value; for one that begins with -, write ${rawName}=${value}`);
}

/** If an option is given twice, only the last value would count. An empty value is usually an unset shell variable. In both cases the command
 *  could show or sum up more than intended. */
function checkOptions(tokens: ReturnType<typeof parseArgs>['tokens'], options: CommandOptions): void {
  const seen = new Set<string>();
  for (const token of tokens ?? []) {
    if (token.kind !== 'option') continue;
    const option = Object.hasOwn(options, token.name) ? options[token.name] : undefined;
    checkOption(token, option, options);
    if (option?.type !== 'string') continue;
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
): SplitArguments & { readonly childArgs?: readonly string[] } {
  const end = args.indexOf('--');
  const before = end < 0 ? undefined : split(commands, args.slice(0, end));
  const runsChild = commands.some(({ name, runsChild }) => runsChild === true && name === before?.words.join(' '));
  return before === undefined || !runsChild ? split(commands, args) : { ...before, childArgs: args.slice(end + 1) };
}

/** Arguments, split into the words of a command's name and all others. */
interface SplitArguments {
  readonly words: readonly string[];
  /** In their order. */
  readonly rest: readonly string[];
  readonly isVersion: boolean;
  /** The first option before the name that no command has. */
  readonly unknown: string | undefined;
}

/** Options may precede the command, so this parses the options of all commands: the value of an option is not a word of a name. */
function split(commands: readonly Command[], args: readonly string[]): SplitArguments {
  const options = optionsOf(commands);
  const { tokens } = parseArgs({ args: [...args], options, allowPositionals: true, strict: false, tokens: true });
  const positionals = tokens.filter((token) => token.kind === 'positional');
  const [first, second] = positionals;
  const isGroup = commands.some((command) => command.name.startsWith(`${first?.value} `));
  const words = [first, isGroup ? second : undefined].filter((token) => token !== undefined);
  const given = tokens.filter((token) => token.kind === 'option');
  const versions = given.filter(({ rawName }) => ['--version', '-v'].includes(rawName));
  const isVersion = words.length === 0 && versions.length > 0;
  const dropped = isVersion ? versions : words;
  return {
    words: words.map(({ value }) => value),
    rest: args.filter((_, i) => !dropped.some(({ index }) => index === i)),
    isVersion,
    unknown: given.find(({ name, index }) => index < (first?.index ?? 0) && !Object.hasOwn(options, name))?.rawName,
  };
}

/** The options of all commands. */
function optionsOf(commands: readonly Command[]): CommandOptions {
  return Object.assign({}, ...commands.map((command) => command.options), COMMON_OPTIONS) as CommandOptions;
}

function print(context: CommandContext, text: string): number {
  context.stdout.write(text);
  return 0;
}

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
  const sections = [optionLines(command.options), command.help ?? '', exampleLines(program, command)];
  const shown = sections.filter((section) => section !== '').map((section) => `\n${section.trimEnd()}\n`);
  return `${helpText(program, [command])}${shown.join('')}`;
}

/** The arguments of a command behind its name. */
export function synopsisOf({ argument = '', options, runsChild }: Command): string {
  const shown = Object.entries(options).filter(([, { value, help }]) => value !== undefined || help !== undefined);
  const parts = shown.map(([name, { value, required, multiple }]) => {
    const option = value === undefined ? `--${name}` : `--${name} ${value}`;
    return `${required === true ? option : `[${option}]`}${multiple === true ? '...' : ''}`;
  });
  const child = runsChild === true ? '-- COMMAND [ARGUMENT...]' : '';
  return [argument, ...parts, child].filter((part) => part !== '').join(' ');
}

function optionLines(options: CommandOptions): string {
  const lines = Object.entries(options).flatMap(([name, { value, help }]) =>
    help === undefined ? [] : [[value === undefined ? `--${name}` : `--${name} ${value.split('|').at(-1)}`, help] as const],
  );
  const width = Math.max(...lines.map(([label]) => label.length));
  const indented = (help: string) => help.replaceAll('\n', `\n${' '.repeat(width + 4)}`);
  return lines.map(([label, help]) => `  ${label.padEnd(width)}  ${indented(help)}\n`).join('');
}

/** JSON is for other programs: with -s npm prints no lines of its own before it. */
function exampleLines({ name: program }: CommandLine, { name, examples = [] }: Command): string {
  const [word = ''] = name.split(' ');
  const lines = examples.map((example) => {
    const script = example.includes('--format json') ? `npm run -s ${program}` : `npm run ${program}`;
    return `  ${example.split(' ')[0] === word ? `${script} -- ${example}` : example}\n`;
  });
  return lines.length === 0 ? '' : `Example${lines.length === 1 ? '' : 's'}:\n${lines.join('')}`;
}
