import { expect, test } from '@jest/globals';
import { runCaptured } from '@vitrine/command-line/testing/run-captured';
import { describeWithContainers } from '@vitrine/e2e/describe-with-containers';
import { startKafka } from '@vitrine/e2e/environment';
import { alterTopic, createTopic, deleteTopic, readTopic } from '@vitrine/kafka/testing/topics';
import { templateDatabase } from '@vitrine/testkit/template-database';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { decodeTraceRecord } from '@vitrine/traces/trace-record-codec';
import { join } from 'node:path';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { gatewayCommandLine } from '../../cli/registry.ts';
import { startTestGateway } from '../../testing/start-test-gateway.ts';

const SLOW_MS = 60_000;
const TEST_TIMEOUT_MS = 180_000;

await describeWithContainers('publishing traces to Kafka 4.1', () => {
  test(
    'every trace reaches the topic under its id, also those of an outage of the broker or the topic, which health names with what waits',
    async () => {
      await using kafka = await startKafka();
      await using database = await templateDatabase();
      await using folder = await temporaryFolder('spool');
      const topic = await createTopic(kafka, { partitions: 3 });
      const variables = {
        SVC_STORAGE_DRIVER: 'postgres',
        SVC_STORAGE_DSN: database.dsn.reveal(),
        SVC_QUEUE_DRIVER: 'kafka',
        SVC_QUEUE_BROKERS: kafka.brokers.join(','),
        SVC_QUEUE_TOPIC: topic,
        SVC_QUEUE_SPOOL_PATH: join(folder.path, 'spool'),
      };
      await using gateway = await startTestGateway(variables);
      const chat = async () => {
        const headers = { authorization: 'Bearer sk-test-0123456789', 'content-type': 'application/json' };
        const body = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Say hello' }] });
        const response = await fetch(`${gateway.url}/openai/v1/chat/completions`, { method: 'POST', headers, body });
        await response.text();
        expect(response.status).toBe(200);
      };
      for (let i = 0; i < 20; i += 1) await chat();
      await readTopic(kafka, topic, 20);
      const healthBecomes = (expected: Readonly<Record<string, unknown>>) =>
        waitUntil(
          async () => {
            const { status, reasons, spooled_traces, spooled_since } = (await gateway.get('/api/health')) as Record<
              string,
              unknown
            >;
            const isSince = (spooled_since !== undefined) === (spooled_traces !== undefined);
            return isSince && JSON.stringify({ status, reasons, spooled_traces }) === JSON.stringify(expected);
          },
          { what: JSON.stringify(expected), timeoutMs: SLOW_MS },
        );
      const ok = { status: 'ok', reasons: undefined, spooled_traces: undefined };
      await healthBecomes(ok);
      await kafka.stop();
      for (let i = 0; i < 5; i += 1) await chat();
      await healthBecomes({ status: 'degraded', reasons: ['broker_unavailable'], spooled_traces: 5 });
      const hasLogged = (message: string) => gateway.log.some((line) => line.includes(`"msg":"${message}"`));
      await waitUntil(() => hasLogged('spooling records'), { what: 'the spool', timeoutMs: SLOW_MS });
      await kafka.restart();
      const records = await readTopic(kafka, topic, 25);
      const traces = new Map(records.map(({ key, value }) => [key, decodeTraceRecord(Buffer.from(value ?? ''))]));
      expect(traces.size).toBe(25);
      for (const [key, { id, total_tokens: tokens }] of traces)
        expect([Buffer.from(id).toString('hex'), tokens > 0]).toEqual([key, true]);
      await healthBecomes(ok);

      await deleteTopic(kafka, topic);
      for (let i = 0; i < 3; i += 1) await chat();
      await healthBecomes({ status: 'degraded', reasons: ['topic_missing'], spooled_traces: 3 });
      const doctor = async () => (await runCaptured(gatewayCommandLine, ['doctor'], { env: variables })).stdout;
      expect(await doctor()).toMatch(/fail {2}storage: the traces cannot be published[^]*create the topic/);
      await createTopic(kafka, { topic });
      await readTopic(kafka, topic, 3);
      await healthBecomes(ok);
      expect(await doctor()).toMatch(new RegExp(`pass {2}storage: [^]*topic: ${topic}`));
      // It can be looked up, and not written to.
      await alterTopic(kafka, topic, { 'max.message.bytes': '1' });
      expect(await doctor()).toMatch(/fail {2}storage: the traces cannot be published[^]*larger than the max message size/);
    },
    TEST_TIMEOUT_MS,
  );
});
