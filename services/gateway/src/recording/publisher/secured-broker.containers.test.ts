import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Secret } from '@vitrine/config/secret';
import { describeWithContainers } from '@vitrine/e2e/describe-with-containers';
import { startSecuredKafka, type SecuredKafka } from '@vitrine/e2e/secured-kafka';
import { ensureTopics } from '@vitrine/kafka/ensure-topics';
import { createKafkaClient } from '@vitrine/kafka/kafka-client';
import { collectLog } from '@vitrine/kafka/testing/collect-log';
import { parseScrape } from '@vitrine/testkit/parse-scrape';
import { templateDatabase, type TestDatabase } from '@vitrine/testkit/template-database';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { TEST_CERTIFICATES } from '@vitrine/testkit/test-certificates';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startTestGateway } from '../../testing/start-test-gateway.ts';

const START_TIMEOUT_MS = 180_000;
const SLOW_MS = 30_000;
const TOPIC = 'vitrine.traces';
const USERNAME = 'gateway';
const PASSWORD = 'canary-right-0b7e';
const { ca, client, clientKey } = TEST_CERTIFICATES;
const TLS = { SVC_QUEUE_TLS_ENABLED: 'true', SVC_QUEUE_TLS_CA_PATH: ca };

await describeWithContainers('publishing traces over TLS to Kafka 4.1', () => {
  let kafka: SecuredKafka;
  let database: TestDatabase;
  beforeAll(async () => {
    [kafka, database] = await Promise.all([startSecuredKafka(USERNAME, PASSWORD), templateDatabase()]);
    const sasl = { mechanism: 'plain', username: USERNAME, password: new Secret(PASSWORD) } as const;
    const tls = { ca: readFileSync(ca, 'utf8') };
    const admin = createKafkaClient({ clientId: 'test', brokers: [kafka.saslBroker], tls, sasl }, collectLog());
    const settings = { partitions: 1, replicationFactor: 1, retentionMs: 3_600_000, maxMessageBytes: 1_048_576 };
    await ensureTopics(admin, [{ ...settings, topic: TOPIC }]);
  }, START_TIMEOUT_MS);
  afterAll(async () => {
    await database[Symbol.asyncDispose]();
    await kafka[Symbol.asyncDispose]();
  });

  // Passwords and keys are passed to the publishing thread, which a test of the client alone does not cover.
  test.each([
    [
      'SCRAM-SHA-512',
      () => ({
        SVC_QUEUE_BROKERS: kafka.saslBroker,
        SVC_QUEUE_SASL_MECHANISM: 'scram-sha-512',
        SVC_QUEUE_SASL_USERNAME: USERNAME,
        SVC_QUEUE_SASL_PASSWORD: PASSWORD,
      }),
    ],
    [
      'a client certificate',
      () => ({
        SVC_QUEUE_BROKERS: kafka.clientCertificateBroker,
        SVC_QUEUE_TLS_CERT_PATH: client,
        SVC_QUEUE_TLS_KEY_PATH: clientKey,
      }),
    ],
  ])('a gateway publishes with %s and logs no secret', async (_, variables) => {
    await using folder = await temporaryFolder('spool');
    await using gateway = await startTestGateway({
      SVC_LOG_LEVEL: 'debug',
      SVC_STORAGE_DRIVER: 'postgres',
      SVC_STORAGE_DSN: database.dsn.reveal(),
      SVC_QUEUE_DRIVER: 'kafka',
      SVC_QUEUE_TOPIC: TOPIC,
      SVC_QUEUE_SPOOL_PATH: join(folder.path, 'spool'),
      SVC_PROMETHEUS_ENABLED: 'true',
      SVC_OBSERVABILITY_OTEL_PROMETHEUS_PUBLIC: 'true',
      ...TLS,
      ...variables(),
    });
    const metric = async (name: string) => {
      const families = parseScrape(await (await fetch(`${gateway.url}/metrics`)).text(), 'classic');
      return families.flatMap(({ samples }) => samples).find((sample) => sample.name === name)?.value;
    };
    await waitUntil(async () => (await metric('svc_trace_publisher_connected')) === 1, {
      what: 'the broker',
      timeoutMs: SLOW_MS,
    });
    const headers = { authorization: 'Bearer sk-test-0123456789', 'content-type': 'application/json' };
    const body = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Say hello' }] });
    expect((await fetch(`${gateway.url}/openai/v1/chat/completions`, { method: 'POST', headers, body })).status).toBe(200);
    await waitUntil(async () => (await metric('svc_trace_published_total')) === 1, { what: 'the trace', timeoutMs: SLOW_MS });
    expect(await metric('svc_trace_spool_records')).toBe(0);
    const secrets = [PASSWORD, new URL(database.dsn.reveal()).password, 'PRIVATE KEY'];
    expect(gateway.log.filter((line) => secrets.some((secret) => line.includes(secret)))).toEqual([]);
  });
});
