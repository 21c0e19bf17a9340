import { describe, expect, test } from '@jest/globals';
import { codeOf, messageOf } from '@vitrine/faults/fault';
import { command, type CommandLine, isUsageError, stringOption, switchOption } from './command.ts';
import { durationOption, httpUrlOption, wholeNumberOption } from './option-values.ts';
import { FORMAT_OPTION, textTable } from './print-result.ts';
import { createProgress } from './progress.ts';
import { helpText } from './run-command.ts';
import { versionCommand } from './serve-command.ts';
import { runCaptured } from './testing/run-captured.ts';

const calls: unknown[] = [];
const record = (name: string, argument?: 'ID') =>
  command({
    name,
    summary: `Does ${name}.`,
    help: `Example of ${name}\n`,
    options: { size: stringOption('N', 'its size'), tag: { type: 'string', multiple: true }, quiet: { type: 'boolean' } },
    ...(argument === undefined ? {} : { argument }),
    run: async (input) => {
      calls.push([name, { ...input.values }, input.positionals]);
      return 0;
    },
  });
const around = command({
  name: 'around',
  summary: 'Runs another program.',
  help: 'Example of around\n',
  options: { size: { type: 'string' } },
  runsChild: true,
  run: async ({ values, positionals, childArgs }) => {
    calls.push(['around', { ...values }, positionals, childArgs]);
    return 7;
  },
});
const commands = [record('serve'), record('keys make'), record('keys end', 'ID'), around, versionCommand('program', '1.2.3')];
const program: CommandLine = { name: 'program', defaultCommand: 'serve', commands };

async function run(...args: string[]) {
  calls.length = 0;
  const result = await runCaptured(program, args);
  return { ...result, call: calls[0] };
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
    expect(await run(...args)).toMatchObject({ code: 0, call, stdout: '', stderr: '' });
  });
});

describe('the version', () => {
  test.each([[['--version']], [['-v']], [['version']], [['--config', 'f', '--version']]])('%j', async (args) => {
    expect(await run(...args)).toMatchObject({ code: 0, stdout: '1.2.3\n', stderr: '' });
  });

  test.each([
    ['version', '--format', 'json'],
    ['--version', '--format', 'json'],
  ])('%s %s %s', async (...args) => {
    const { code, stdout } = await run(...args);
    expect([code, JSON.parse(stdout)]).toEqual([0, { version: '1.2.3' }]);
  });

  test('is printed by --version alone; after a command --version is an unknown option', async () => {
    expect(await run('keys', 'make', '--version')).toMatchObject({ code: 2, stdout: '' });
    const { code, stderr } = await run('version', '--format', 'xml');
    expect([code, stderr]).toEqual([2, expect.stringContaining('program: --format must be text or json; got "xml"\n')]);
  });
});

describe('ambiguous options are rejected before the command runs', () => {
  test.each([
    [['--size', '1', '--size', '2'], '--size is given twice'],
    [['--size=1', '--size=1'], '--size is given twice'],
    [['--size', ''], '--size must not be empty'],
    [['--size= '], '--size must not be empty'],
    [['--config', ''], '--config must not be empty'],
  ])('%j', async (args, said) => {
    const { code, stderr, call } = await run('keys', 'make', ...args);
    expect([code, call]).toEqual([2, undefined]);
    expect(stderr).toContain(`program: ${said}\n`);
  });

  test('options with several values, and switches, may be repeated', async () => {
    const args = ['keys', 'make', '--tag', 'a', '--tag', 'b', '--quiet', '--quiet'];
    expect((await run(...args)).call).toEqual(['keys make', { tag: ['a', 'b'], quiet: true }, []]);
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
  ])('%j passes the arguments after -- unparsed', async (args, call) => {
    expect(await run(...args)).toMatchObject({ code: 7, call });
  });

  test('for other commands -- only ends the options', async () => {
    expect((await run('keys', 'end', '--', '--size')).call).toEqual(['keys end', {}, ['--size']]);
    expect((await run('--', 'keys', 'end', 'gk_1')).call).toEqual(['keys end', {}, ['gk_1']]);
  });
});

describe('an unknown command', () => {
  test.each([['vers'], ['keys'], ['keys', 'mak'], ['--size', '3', 'verse']])('%j %j', async (...args) => {
    expect(codeOf(await run(...args).catch((error: unknown) => error))).toBe('unknown_command');
  });

  test.each([
    [['keys', 'end'], 'keys end needs ID'],
    [['keys', 'end', 'a', 'b'], 'unexpected argument: b\n'],
    [['keys', 'make', '--colour'], 'unknown option: --colour\n'],
    [['keys', 'make', '--siez', '3'], 'unknown option: --siez; did you mean --size?'],
    [['keys', 'make', '-x'], 'unknown option: -x\n'],
    [['keys', 'make', '--size'], '--size needs a value\n'],
    [['keys', 'make', '--size', '--quiet'], '--size needs a value; for one that begins with -, write --size=--quiet'],
    [['keys', 'make', '--quiet=yes'], '--quiet takes no value'],
    [['keys', 'make', '--constructor'], 'unknown option: --constructor'],
    [['serve', 'now'], 'unexpected argument: now\n'],
  ])('%j ends with 2 and the help of its command', async (args, said) => {
    const { code, stdout, stderr } = await run(...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(said);
    expect(stderr).toContain('Example of');
  });
});

test.each([
  [['sevre'], 'unknown command: sevre; did you mean serve?'],
  [['keys', 'mak'], 'unknown command: keys mak; did you mean keys make?'],
  [['kyes', 'make', '--size', '3'], 'unknown command: kyes; did you mean keys make?'],
  [['kyes'], 'unknown command: kyes; did you mean keys?'],
  [['keys', 'remove'], 'unknown command: keys remove'],
  [['keys'], 'keys needs a command: make, end'],
  [['paint'], 'unknown command: paint'],
  // The value of a mistyped option is no command.
  [['--szie', '3'], 'unknown option: --szie; did you mean --size?'],
  [['--colour', 'red', 'keys', 'make'], 'unknown option: --colour'],
  [['sevre', '--szie', '3'], 'unknown command: sevre; did you mean serve?'],
])('%j names what is unknown, and the nearest', async (args, message) => {
  const error: unknown = await run(...args).catch((error: unknown) => error);
  expect([isUsageError(error), messageOf(error)]).toEqual([true, message]);
});

test('a value may begin with a hyphen when it is written with =', async () => {
  expect((await run('keys', 'make', '--size=-3')).call).toEqual(['keys make', { size: '-3' }, []]);
});

describe('help', () => {
  test('of all, of a group and of one command', async () => {
    expect(await run('--help')).toMatchObject({ code: 0, stdout: helpText(program), call: undefined });
    expect(await run('keys', '-h')).toMatchObject({ code: 0, stdout: helpText(program, commands.slice(1, 3)) });
    expect((await run('keys', 'end', '--help')).stdout).toMatch(/usage: program keys end ID[\s\S]*Example of keys end/);
  });

  test('of a command is generated from the table of its options', async () => {
    const make = command({
      name: 'keys make',
      summary: 'Makes a key.',
      argument: 'ID',
      options: {
        owner: { ...stringOption('NAME', 'who owns it'), required: true },
        tag: { ...stringOption('TEXT', 'a first line\nand a second'), multiple: true },
        quiet: switchOption('prints nothing'),
        ...FORMAT_OPTION,
        config: { type: 'string', value: 'FILE' },
      },
      help: 'More about keys.',
      examples: ['keys make a --owner b', 'keys make a --owner b --format json', 'KEY=a npm run program'],
      run: async () => 0,
    });
    const line = { name: 'program', defaultCommand: 'keys make', commands: [make, ...commands] };
    expect((await runCaptured(line, ['keys', 'make', '--help'])).stdout)
      .toBe(`usage: program keys make ID --owner NAME [--tag TEXT]... [--quiet] [--format text|json] [--config FILE]

  keys make  Makes a key.

  --owner NAME   who owns it
  --tag TEXT     a first line
                 and a second
  --quiet        prints nothing
  --format json  for programs

More about keys.

Examples:
  npm run program -- keys make a --owner b
  npm run -s program -- keys make a --owner b --format json
  KEY=a npm run program
`);
    const { code, stderr } = await runCaptured(line, ['keys', 'make', 'a']);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^program: --owner is required\n\nusage: program keys make ID /)]);
  });
});

test.each([
  ['2000', 2_000],
  ['5s', 5_000],
  ['1.5s', 1_500],
])('a time option accepts %s', (text, ms) => {
  expect(durationOption('--timeout', text, 1, 600_000)).toBe(ms);
});

test.each(['0', '0s', '11m', 's', '-1', '5 s', ''])('a time option rejects %j', (text) => {
  expect(() => durationOption('--timeout', text, 1, 600_000)).toThrow(
    '--timeout must be 1 to 600000 milliseconds, or a duration such as 5s',
  );
});

test.each(['0', '6', '1.5', '-1', 'x', '', '1e0'])('a whole number option rejects %j', (text) => {
  expect(() => wholeNumberOption('--limit', text, 1, 5)).toThrow('--limit must be a whole number from 1 to 5');
});

test('a URL option removes trailing slashes and accepts only http and https', () => {
  expect(httpUrlOption('--base-url', 'https://gateway.example.com/a//')).toBe('https://gateway.example.com/a');
  for (const text of ['ftp://x', 'x', '']) expect(() => httpUrlOption('--base-url', text)).toThrow('--base-url must be an http');
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

test('progress is printed every two seconds, with the rate and the time left', () => {
  let now = 0;
  const lines: string[] = [];
  const stderr = { write: (line: string) => void lines.push(line) };
  const progress = createProgress({ total: 100_000, items: 'traces read', now: () => now, stderr });
  for (const [at, done] of [
    [500, 5_000],
    [2_000, 20_000],
    [3_900, 39_000],
    [4_000, 40_000],
  ] as const) {
    now = at;
    progress(done);
  }
  expect(lines).toEqual([
    '20000 of 100000 traces read (20 %), 10000 per second, about 8 s left\n',
    '40000 of 100000 traces read (40 %), 10000 per second, about 6 s left\n',
  ]);
});
