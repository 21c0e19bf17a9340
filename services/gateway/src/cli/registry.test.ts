import { expect, test } from '@jest/globals';
import { COMMON_OPTIONS, type CommandOptions } from '@vitrine/command-line/command';
import { commandHelp, synopsisOf } from '@vitrine/command-line/run-command';
import { runCaptured } from '@vitrine/command-line/testing/run-captured';
import { VERSION } from '../telemetry/observability-config.ts';
import { gatewayCommandLine } from './registry.ts';

test('--version prints the version of the gateway', async () => {
  expect(await runCaptured(gatewayCommandLine, ['--version'])).toEqual({ code: 0, stdout: `${VERSION}\n`, stderr: '' });
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
])('%j ends with 2 and names the conflicting options', async (args, named) => {
  const { code, stdout, stderr } = await runCaptured(gatewayCommandLine, args);
  expect([code, stdout]).toEqual([2, '']);
  const [first = ''] = stderr.split('\n', 1);
  for (const name of named) expect(first).toContain(name);
});

test.each(gatewayCommandLine.commands.map((one) => [one.name, one] as const))(
  'the synopsis of %s lists its flags, and its help explains them',
  (_, one) => {
    const { help: _help, ...common } = COMMON_OPTIONS;
    const synopsis = synopsisOf(one);
    const flags = Object.entries<CommandOptions[string]>({ ...one.options, ...common });
    const flagsIn = (text: string) => [...new Set(Array.from(text.matchAll(/--([a-z-]+)/g), ([, name = '']) => name))];
    expect(flagsIn(synopsis).toSorted()).toEqual(flags.map(([name]) => name).toSorted());
    const [, text = ''] = commandHelp(gatewayCommandLine, one).split(one.summary);
    const [explained = ''] = text.split(/^Examples?:/m);
    for (const [name, { type }] of flags) {
      expect(explained).toMatch(new RegExp(`--${name}\\b`));
      // A switch has no value; every other option names its value.
      expect(synopsis).toMatch(type === 'boolean' ? new RegExp(`--${name}[\\] ]`) : new RegExp(`--${name} [A-Za-z|]+`));
    }
    // Arguments after `--` belong to the child program. An option without brackets is required.
    const positionals = synopsis.replace(/\[[^\]]*\]\S*|-- .*|--[a-z-]+ \S+/g, '').trim();
    expect(positionals === '' ? 0 : positionals.split(/\s+/).length).toBe(one.argument === undefined ? 0 : 1);
  },
);

test('every command has an example that calls it', () => {
  for (const one of gatewayCommandLine.commands) {
    const called = one.name === 'serve' ? /npm run gateway\n/ : `npm run gateway -- ${one.name}`;
    expect(commandHelp(gatewayCommandLine, one)).toMatch(called);
  }
});
