import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { joinedGroups } from '@vitrine/kafka/testing/joined-groups';
import { npmScript } from '@vitrine/testkit/npm-script';
import { templateDatabase, type TestDatabase } from '@vitrine/testkit/template-database';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { readNames } from './chart/shared-names.ts';
import { describeWithContainers } from './describe-with-containers.ts';
import { startKafka, type RunningKafka } from './environment.ts';
import { freePort, startProcess } from './running-process.ts';

const START_TIMEOUT_MS = 120_000;
const TEST_TIMEOUT_MS = 120_000;

await describeWithContainers('names of charts/vitrine/files/names.yaml, on a broker', () => {
  const opened = new AsyncDisposableStack();
  const names = readNames();
  let kafka: RunningKafka;
  let database: TestDatabase;
  beforeAll(async () => {
    kafka = opened.use(await startKafka());
    database = opened.use(await templateDatabase());
  }, START_TIMEOUT_MS);
  afterAll(() => opened.disposeAsync(), START_TIMEOUT_MS);

  test(
    'the topics are those that the command creates',
    async () => {
      const options = ['--brokers', kafka.brokers.join(','), '--format', 'json'];
      await using topics = startProcess({ command: [...npmScript('topics'), ...options] });
      expect(await topics.end(TEST_TIMEOUT_MS)).toMatchObject({ code: 0 });
      const created = (JSON.parse(topics.stdout) as { topic: string }[]).map(({ topic }) => topic);
      expect(created.toSorted()).toEqual(names.topics.flatMap((topic) => [topic, `${topic}.dlq`]).toSorted());
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'the groups are those that running consumers join, each for its topic',
    async () => {
      for (const [component, prefix] of Object.entries({ 'trace-writer': 'WRITER', 'enrich-scan-queue': 'SCAN' })) {
        const env = {
          [`${prefix}_SERVER_PORT`]: String(await freePort()),
          [`${prefix}_STORAGE_DSN`]: database.dsn.reveal(),
          [`${prefix}_QUEUE_BROKERS`]: kafka.brokers.join(','),
        };
        opened.use(startProcess({ command: npmScript(component), env }));
      }
      const expected = Object.assign({}, ...Object.values(names.consumers)) as Record<string, string>;
      const joined = await waitUntil(
        async () => {
          const groups = await joinedGroups(kafka.brokers);
          return Object.keys(groups).length >= Object.keys(expected).length && groups;
        },
        { what: 'the members of all groups', timeoutMs: TEST_TIMEOUT_MS },
      );
      expect(joined).toEqual(expected);
    },
    TEST_TIMEOUT_MS,
  );
});
