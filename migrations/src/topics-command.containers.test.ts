import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { runCaptured } from '@vitrine/command-line/testing/run-captured';
import { describeWithContainers } from '@vitrine/e2e/describe-with-containers';
import { startKafka, type RunningKafka } from '@vitrine/e2e/environment';
import { deleteTopic, untilTopic } from '@vitrine/kafka/testing/topics';
import { topicsCommand } from './topics-command.ts';

const TEST_TIMEOUT_MS = 120_000;
const program = { name: 'migrate', defaultCommand: 'topics', commands: [topicsCommand] };

await describeWithContainers('the command that creates topics, on Kafka 4.1', () => {
  let kafka: RunningKafka;
  beforeAll(async () => {
    kafka = await startKafka();
  }, TEST_TIMEOUT_MS);
  afterAll(async () => kafka[Symbol.asyncDispose]());

  const run = (...args: readonly string[]) =>
    runCaptured(program, ['--brokers', kafka.brokers.join(','), ...args], { untilSignal: () => new Promise(() => {}) });
  const rows = async (...args: readonly string[]) => {
    const { code, stdout } = await run('--format', 'json', ...args);
    expect(code).toBe(0);
    return JSON.parse(stdout) as readonly Record<string, unknown>[];
  };

  test('it creates all topics, even when several run at once, and reports them as existing when run again', async () => {
    await Promise.all([run('--topic', 'new', '--partitions', '3'), run('--topic', 'new', '--partitions', '3')]);
    const found = { result: 'exists', replication_factor: 1, differences: [] };
    const names = ['new', 'vitrine.scans.requested', 'vitrine.scans.routine'];
    expect(await rows('--topic', 'new', '--partitions', '3')).toEqual(
      names.flatMap((topic) => [
        { ...found, topic, partitions: 3, retention_hours: 168, max_message_bytes: 1_048_588 },
        { ...found, topic: `${topic}.dlq`, partitions: 1, retention_hours: 720, max_message_bytes: 1_114_124 },
      ]),
    );
    const { stdout } = await run('--topic', 'new', '--partitions', '3');
    expect(stdout.split('\n')[1]).toMatch(/^new +exists +3 +1 +168 h +1048588 B *$/);
  });

  test('missing partitions are added; other settings are shown but not changed', async () => {
    expect((await rows('--topic', 'old', '--partitions', '2'))[0]).toMatchObject({ result: 'created', partitions: 2 });
    expect((await rows('--topic', 'old', '--partitions', '4'))[0]).toMatchObject({ result: 'partitions_added', partitions: 4 });
    const [other] = await rows('--topic', 'old', '--partitions', '3', '--retention-hours', '1');
    expect(other).toMatchObject({
      result: 'differs',
      partitions: 4,
      retention_hours: 168,
      differences: ['partitions: 4 instead of 3', 'retention.ms: 604800000 instead of 3600000'],
    });
    expect((await run('--topic', 'old', '--partitions', '3')).stdout).toContain(
      'old: partitions: 4 instead of 3; left as it is\n',
    );
  });

  test('a refusal of the broker is an error that names topic and setting', async () => {
    const fault: unknown = await run('--topic', 'copied', '--replication-factor', '3').catch((error: unknown) => error);
    expect(fault).toMatchObject({
      code: 'topics_refused',
      say: expect.stringMatching(/copied: replication_factor: .*INVALID_REPLICATION/),
    });
  });

  test(
    '--watch creates topics that were deleted meanwhile, and ends at a signal',
    async () => {
      const { promise: signal, resolve: stop } = Promise.withResolvers<string>();
      const options = ['--topic', 'watched', '--watch', '1', '--brokers', kafka.brokers.join(',')];
      const watching = runCaptured(program, options, { untilSignal: () => signal });
      await untilTopic(kafka, 'watched');
      await deleteTopic(kafka, 'watched');
      await untilTopic(kafka, 'watched');
      stop('SIGTERM');
      const { code, stdout } = await watching;
      expect([code, stdout.match(/^watched +created/gm)]).toEqual([
        0,
        ['watched created', 'watched created'].map(() => expect.any(String)),
      ]);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'it waits for a broker that starts later',
    async () => {
      await kafka.stop();
      const created = run('--topic', 'late');
      await kafka.restart();
      expect(await created).toMatchObject({ code: 0, stderr: expect.stringContaining('waiting 60 s at most') });
    },
    TEST_TIMEOUT_MS,
  );
});
