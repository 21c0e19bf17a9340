import { expect, test } from '@jest/globals';
import { runCaptured } from '@vitrine/command-line/testing/run-captured';
import { topicsCommand } from './topics-command.ts';

const program = { name: 'migrate', defaultCommand: 'topics', commands: [topicsCommand] };
const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runCaptured(program, args, { env, untilSignal: () => new Promise(() => {}) });

test.each([
  [[], {}, 'kafka.brokers (VITRINE_KAFKA_BROKERS): must name a broker, such as kafka:9092'],
  [['--brokers', 'kafka'], {}, 'kafka.brokers.0 (--brokers): must be host:port'],
  [['--partitions', '0'], {}, 'kafka.partitions (--partitions): must be at least 1'],
  [
    ['--replication-factor', '0'],
    {},
    'kafka.replication_factor (--replication-factor): must be -1 (default of the brokers) or 1 to 32',
  ],
  [[], { VITRINE_KAFKA_RETENTION_HOURS: 'week' }, 'kafka.retention_hours (VITRINE_KAFKA_RETENTION_HOURS): must be'],
  [[], { VITRINE_KAFKA_PARTITION: '3' }, 'unknown variable; did you mean VITRINE_KAFKA_PARTITIONS?'],
])('%j %j: the error names the field and its rule', async (args, env, message) => {
  const fault = (await run(args, env).catch((error: unknown) => error)) as { readonly code: string; readonly say: string };
  expect(fault).toMatchObject({ code: 'invalid_config', say: expect.stringContaining(message) });
});

test('a wait that is not a number of seconds is a usage error', async () => {
  const { code, stderr } = await run(['--brokers', '127.0.0.1:1', '--wait', 'long']);
  expect([code, stderr]).toEqual([2, expect.stringContaining('--wait SECONDS must be a whole number from 0 to 86400')]);
});

test('it reports that it waits for a broker, and gives up with the reason after the timeout', async () => {
  let said = '';
  const stderr = { write: (text: string) => void (said += text) };
  const context = { env: {}, stdout: stderr, stderr, untilSignal: () => new Promise<string>(() => {}) };
  const never = { handleUncaught: () => {}, runChild: async () => ({ exitCode: 0 }) };
  const args = { values: { brokers: '127.0.0.1:1', wait: '2' }, positionals: [] };
  const fault: unknown = await topicsCommand.run(args, { ...context, ...never }).catch((error: unknown) => error);
  expect(fault).toMatchObject({ code: 'broker_unreachable', say: expect.stringMatching(/127\.0\.0\.1:1.*ECONNREFUSED/) });
  expect(said).toMatch(/^topics: waiting 2 s at most for 127\.0\.0\.1:1: .*ECONNREFUSED.*\n$/);
});
