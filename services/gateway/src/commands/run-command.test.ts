import { describe, expect, test } from '@jest/globals';
import { codeOf } from '@vitrine/faults/fault';
import { command, COMMON_OPTIONS, type Command, type CommandContext, type CommandOptions } from './command.ts';
import { durationOption } from './duration-option.ts';
import { COMMANDS } from './registry.ts';
import { helpOf, runCommand } from './run-command.ts';
import { textTable } from './text-table.ts';
import { VERSION } from '../version.ts';

const calls: unknown[] = [];
const record = (name: string, words: number) =>
  command({
    name,
    summary: `Does ${name}.`,
    usage: words === 0 ? '[--size N]' : 'ID [--size N]',
    help: `Example of ${name}\n`,
    options: { size: { type: 'string' }, tag: { type: 'string', multiple: true }, quiet: { type: 'boolean' } },
    words,
    run: async ({ values, words: input }) => {
      calls.push([name, { ...values }, input]);
      return 0;
    },
  });
const around = command({
  name: 'around',
  summary: 'Runs another program.',
  usage: '-- COMMAND',
  help: 'Example of around\n',
  options: { size: { type: 'string' } },
  words: 0,
  runsAnother: true,
  run: async ({ values, words, behind }) => {
    calls.push(['around', { ...values }, words, behind]);
    return 7;
  },
});
const commands = [record('serve', 0), record('keys make', 0), record('keys end', 1), around];

async function run(commands: readonly Command[], ...args: string[]) {
  const said = { out: '', err: '' };
  const context: CommandContext = {
    env: {},
    stdout: { write: (text) => void (said.out += text) },
    stderr: { write: (text) => void (said.err += text) },
    untilStopped: async () => 'SIGTERM',
    surviveBugs: () => {},
    runChild: async () => ({ exitCode: 0 }),
  };
  calls.length = 0;
  const code = await runCommand(commands, args, context);
  return { code, ...said, call: calls[0] };
}

describe('which command runs', () => {
  test.each([
    [[], ['serve', {}, []]],
    [
      ['--config', 'f'],
      ['serve', { config: 'f' }, []],
    ],
    [
      ['serve', '--size', '3'],
      ['serve', { size: '3' }, []],
    ],
    [
      ['keys', 'make', '--size', 'keys'],
      ['keys make', { size: 'keys' }, []],
    ],
    [
      ['--config', 'keys', 'keys', 'end', 'gk_1'],
      ['keys end', { config: 'keys' }, ['gk_1']],
    ],
    [
      ['keys', 'end', '--size=2', 'gk_1'],
      ['keys end', { size: '2' }, ['gk_1']],
    ],
  ])('%j', async (args, call) => {
    expect(await run(commands, ...args)).toMatchObject({ code: 0, call, out: '', err: '' });
  });
});

describe('the version', () => {
  test.each([[['--version']], [['-v']], [['version']], [['--config', 'f', '--version']]])('%j', async (args) => {
    expect(await run(COMMANDS, ...args)).toMatchObject({ code: 0, out: `${VERSION}\n`, err: '' });
  });

  test.each([
    ['version', '--format', 'json'],
    ['--version', '--format', 'json'],
  ])('%s %s %s', async (...args) => {
    const { code, out } = await run(COMMANDS, ...args);
    expect([code, JSON.parse(out)]).toEqual([0, { version: VERSION }]);
  });

  test('is asked for alone: behind a command it is an option that the command does not have', async () => {
    expect(await run(COMMANDS, 'report', '--version')).toMatchObject({ code: 2, out: '' });
    expect((await run(COMMANDS, 'version', '--format', 'xml')).code).toBe(2);
  });
});

describe('what is unclear is refused before anything is done', () => {
  test.each([
    [['--size', '1', '--size', '2'], '--size is given twice'],
    [['--size=1', '--size=1'], '--size is given twice'],
    [['--size', ''], '--size must not be empty'],
    [['--size= '], '--size must not be empty'],
    [['--config', ''], '--config must not be empty'],
  ])('%j', async (args, said) => {
    const { code, err, call } = await run(commands, 'keys', 'make', ...args);
    expect([code, call]).toEqual([2, undefined]);
    expect(err).toContain(`gateway: ${said}\n`);
  });

  test('an option that may be repeated may be, and a switch', async () => {
    const args = ['keys', 'make', '--tag', 'a', '--tag', 'b', '--quiet', '--quiet'];
    expect((await run(commands, ...args)).call).toEqual(['keys make', { tag: ['a', 'b'], quiet: true }, []]);
  });

  test.each([
    [
      ['debug', '--trace-id', 'x', '--thread-id', 'y'],
      ['--trace-id', '--thread-id'],
    ],
    [
      ['debug', '--run-id', 'y', '--trace-id', 'x'],
      ['--trace-id', '--run-id'],
    ],
    [
      ['debug', '--trace-group-id', 'y', '--trace-id', 'x'],
      ['--trace-id', '--trace-group-id'],
    ],
    [['debug', 'last', '--trace-id', 'x'], ['--trace-id']],
    [['debug', 'last', '--thread-id', 'x'], ['--thread-id']],
    [['debug', '--trace-id', 'x', '--trace-id', 'y'], ['--trace-id']],
    [['report', '--from', ''], ['--from']],
    [['report', '--from', '2026-13-01'], ['from']],
    [
      ['report', '--from', '2026-01-02', '--to', '2026-01-01'],
      ['from', 'to'],
    ],
    [['report', '--limit', '0'], ['--limit']],
    [['keys', 'list', '--org', ''], ['--org']],
    [['doctor', '--format', 'json', '--format', 'text'], ['--format']],
  ])('%j ends with 2 and names what excludes each other', async (args, named) => {
    const { code, out, err } = await run(COMMANDS, ...args);
    expect([code, out]).toEqual([2, '']);
    const [first = ''] = err.split('\n', 1);
    for (const name of named) expect(first).toContain(name);
  });

  test.each([
    [
      ['around', '--', 'python', 'app.py'],
      ['around', {}, [], ['python', 'app.py']],
    ],
    [
      ['--config', 'f', 'around', '--size=3', '--', 'keys', 'end', '--help', '--size', '--', '-x'],
      ['around', { config: 'f', size: '3' }, [], ['keys', 'end', '--help', '--size', '--', '-x']],
    ],
    [
      ['around', '--'],
      ['around', {}, [], []],
    ],
    [['around'], ['around', {}, [], undefined]],
  ])('%j takes what is behind -- as it is', async (args, call) => {
    expect(await run(commands, ...args)).toMatchObject({ code: 7, call });
  });

  test('for other commands -- only ends the options', async () => {
    expect((await run(commands, 'keys', 'end', '--', '--size')).call).toEqual(['keys end', {}, ['--size']]);
    expect((await run(commands, '--', 'keys', 'end', 'gk_1')).call).toEqual(['keys end', {}, ['gk_1']]);
  });
});

describe('what is no command', () => {
  test.each([['vers'], ['keys'], ['keys', 'mak'], ['--size', '3', 'version']])('%j %j', async (...args) => {
    expect(codeOf(await run(commands, ...args).catch((error: unknown) => error))).toBe('unknown_command');
  });

  test.each([
    [['keys', 'end'], 'keys end needs ID'],
    [['keys', 'end', 'a', 'b'], 'unknown command: keys end a b'],
    [['keys', 'make', '--colour'], "Unknown option '--colour'"],
    [['serve', 'now'], 'unknown command: serve now'],
  ])('%j ends with 2 and the help of its command', async (args, said) => {
    const { code, err, out } = await run(commands, ...args);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(said);
    expect(err).toContain('Example of');
  });
});

describe('help', () => {
  test('of all, of a group and of one command', async () => {
    expect(await run(commands, '--help')).toMatchObject({ code: 0, out: helpOf(commands), call: undefined });
    expect(await run(commands, 'keys', '-h')).toMatchObject({ code: 0, out: helpOf(commands.slice(1, 3)) });
    expect((await run(commands, 'keys', 'end', '--help')).out).toMatch(/usage: gateway keys end ID[\s\S]*Example of keys end/);
  });

  test.each(COMMANDS.map((one) => [one.name, one] as const))(
    'the synopsis of %s lists its flags, and its text explains them',
    (_, one) => {
      const { help: _help, ...common } = COMMON_OPTIONS;
      const flags = Object.entries<CommandOptions[string]>({ ...one.options, ...common });
      const flagsIn = (text: string) => [...new Set(Array.from(text.matchAll(/--([a-z-]+)/g), ([, name = '']) => name))];
      expect(flagsIn(one.usage).toSorted()).toEqual(flags.map(([name]) => name).toSorted());
      const [explained = ''] = one.help.split(/^Examples?:/m);
      for (const [name, { type }] of flags) {
        expect(explained).toMatch(new RegExp(`--${name}\\b`));
        // A switch takes nothing, and everything else says what.
        expect(one.usage).toMatch(type === 'boolean' ? new RegExp(`--${name}[\\] ]`) : new RegExp(`--${name} [A-Za-z|]+`));
      }
      // What is behind `--` is another program's; an option without brackets has to be given.
      const words = one.usage.replace(/\[[^\]]*\]\S*|-- .*|--[a-z-]+ \S+/g, '').trim();
      expect(words === '' ? 0 : words.split(/\s+/).length).toBe(one.words);
    },
  );

  test('every command has an example that calls it', () => {
    for (const { name, help } of COMMANDS)
      expect(help).toMatch(name === 'serve' ? /npm run gateway\n/ : `npm run gateway -- ${name}`);
  });
});

test.each([
  ['2000', 2_000],
  ['5s', 5_000],
  ['1.5s', 1_500],
])('an option of time takes %s', (text, ms) => {
  expect(durationOption('--timeout', text, 1, 600_000)).toBe(ms);
});

test.each(['0', '0s', '11m', 's', '-1', '5 s', ''])('an option of time refuses %j', (text) => {
  expect(() => durationOption('--timeout', text, 1, 600_000)).toThrow(
    '--timeout must be 1 to 600000 milliseconds, or a duration such as 5s',
  );
});

test('a table is aligned, and no cell can move the cursor', () => {
  expect(
    textTable(
      ['A', 'LONG'],
      [
        ['\u001b[2Jx', '1'],
        ['y', ''],
      ],
    ),
  ).toBe('A      LONG\n?[2Jx  1\ny\n');
});
