import { describe, expect, test } from '@jest/globals';
import { codeOf } from '@vitrine/faults/fault';
import { command, type CommandContext } from './command.ts';
import { durationOption } from './duration-option.ts';
import { COMMANDS } from './registry.ts';
import { helpOf, runCommand } from './run-command.ts';
import { textTable } from './text-table.ts';

const calls: unknown[] = [];
const record = (name: string, words: number) =>
  command({
    name,
    summary: `Does ${name}.`,
    usage: words === 0 ? '[--size N]' : 'ID [--size N]',
    help: `Example of ${name}\n`,
    options: { size: { type: 'string' } },
    words,
    run: async ({ values, words: given }) => {
      calls.push([name, { ...values }, given]);
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

async function run(...args: string[]) {
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
    expect(await run(...args)).toMatchObject({ code: 0, call, out: '', err: '' });
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
    expect(await run(...args)).toMatchObject({ code: 7, call });
  });

  test('for other commands -- only ends the options', async () => {
    expect((await run('keys', 'end', '--', '--size')).call).toEqual(['keys end', {}, ['--size']]);
    expect((await run('--', 'keys', 'end', 'gk_1')).call).toEqual(['keys end', {}, ['gk_1']]);
  });
});

describe('what is no command', () => {
  test.each([['vers'], ['keys'], ['keys', 'mak'], ['--size', '3', 'version']])('%j %j', async (...args) => {
    expect(codeOf(await run(...args).catch((error: unknown) => error))).toBe('unknown_command');
  });

  test.each([
    [['keys', 'end'], 'keys end needs ID'],
    [['keys', 'end', 'a', 'b'], 'unknown command: keys end a b'],
    [['keys', 'make', '--colour'], "Unknown option '--colour'"],
    [['serve', 'now'], 'unknown command: serve now'],
  ])('%j ends with 2 and the help of its command', async (args, said) => {
    const { code, err, out } = await run(...args);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(said);
    expect(err).toContain('Example of');
  });
});

describe('help', () => {
  test('of all, of a group and of one command', async () => {
    expect(await run('--help')).toMatchObject({ code: 0, out: helpOf(commands), call: undefined });
    expect(await run('keys', '-h')).toMatchObject({ code: 0, out: helpOf(commands.slice(1, 3)) });
    expect((await run('keys', 'end', '--help')).out).toMatch(/usage: gateway keys end ID[\s\S]*Example of keys end/);
  });

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
