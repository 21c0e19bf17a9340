import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeWithContainers } from '@vitrine/e2e/describe-with-containers';
import { startSecuredKafka, type SecuredKafka } from '@vitrine/e2e/secured-kafka';
import { TEST_CERTIFICATES } from '@vitrine/testkit/test-certificates';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { z } from 'zod';
import { KafkaConsumer } from './consume/kafka-consumer.ts';
import { ensureTopics } from './ensure-topics.ts';
import { createKafkaClient } from './kafka-client.ts';
import { kafkaKeys } from './kafka-config.ts';
import { kafkaConnection } from './kafka-connection.ts';
import { KafkaPublisher } from './publish/kafka-publisher.ts';
import { collectLog } from './testing/collect-log.ts';
import { waitForBroker } from './wait-for-broker.ts';

const START_TIMEOUT_MS = 180_000;
const SLOW_MS = 30_000;
const TOPIC = 'secured';
const USERNAME = 'writer';
const PASSWORD = 'canary-right-0b7e';
const WRONG_PASSWORD = 'canary-wrong-5f21';
const { ca, otherCa, client, clientKey } = TEST_CERTIFICATES;
const MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;
const TLS = { enabled: true, ca_path: ca };
const CLIENT_TLS = { ...TLS, cert_path: client, key_path: clientKey };

/** Keys of a configuration. */
type Keys = Readonly<Record<string, unknown>>;

await describeWithContainers('TLS and SASL of Kafka 4.1', () => {
  let kafka: SecuredKafka;
  beforeAll(async () => {
    kafka = await startSecuredKafka(USERNAME, PASSWORD);
    const settings = { partitions: 1, replicationFactor: 1, retentionMs: 3_600_000, maxMessageBytes: 1_048_576 };
    await ensureTopics(clientOf().client, [{ ...settings, topic: TOPIC }]);
  }, START_TIMEOUT_MS);
  afterAll(async () => kafka[Symbol.asyncDispose]());

  const saslOf = (mechanism: string, password = PASSWORD) => ({ mechanism, username: USERNAME, password });

  /** A client for these configuration keys, and its log. */
  function clientOf(keys: Keys = {}) {
    const given = { brokers: [kafka.saslBroker], tls: TLS, sasl: saslOf('plain'), ...keys };
    const log = collectLog();
    const connection = kafkaConnection('test', z.strictObject(kafkaKeys(TOPIC)).parse(given));
    return { client: createKafkaClient(connection, log), log };
  }

  /** A broker that has just started is still loading its groups. */
  const isStarting = (details: unknown) => details instanceof Object && Reflect.get(details, 'error_class') === 'coordinator';

  function expectNoSecret(seen: unknown): void {
    const text = inspect(seen, { depth: Infinity, maxArrayLength: Infinity, maxStringLength: Infinity, showHidden: true });
    for (const secret of [PASSWORD, WRONG_PASSWORD, 'PRIVATE KEY']) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain(Buffer.from(secret).toString('base64'));
    }
  }

  /** Publishes a record, and consumes it in a new group. */
  async function publishAndConsume({ client, log }: ReturnType<typeof clientOf>): Promise<void> {
    await using publisher = new KafkaPublisher(client, { topic: TOPIC });
    await waitUntil(() => publisher.isReady, { what: 'the publisher', timeoutMs: SLOW_MS });
    const key = randomUUID();
    expect(await publisher.publish([{ key, value: Buffer.from('value') }])).toEqual(['published']);
    const keys = new Set<string>();
    await using consumer = new KafkaConsumer(client, {
      topic: TOPIC,
      groupId: randomUUID(),
      deadLetters: publisher,
      isAvailable: () => Promise.resolve(true),
      handle: (records) => {
        for (const record of records) keys.add(String(record.key));
        return Promise.resolve({ status: 'done' });
      },
    });
    await waitUntil(() => keys.has(key), { what: 'the record', timeoutMs: SLOW_MS });
    expect(consumer.status).toBe('running');
    const problems = log.lines.filter(({ level, details }) => level !== 'debug' && level !== 'info' && !isStarting(details));
    expect(problems).toEqual([]);
    expectNoSecret(log.lines);
  }

  test.each(MECHANISMS)('records are published and consumed over TLS with %s, and no secret is logged', async (mechanism) => {
    await publishAndConsume(clientOf({ sasl: saslOf(mechanism) }));
  });

  test('records are published and consumed with a client certificate, and no secret is logged', async () => {
    await publishAndConsume(clientOf({ brokers: [kafka.clientCertificateBroker], tls: CLIENT_TLS, sasl: {} }));
  });

  test.each<[string, () => Keys, RegExp, RegExp]>([
    ...MECHANISMS.map((mechanism): [string, () => Keys, RegExp, RegExp] => [
      `password of ${mechanism}`,
      () => ({ sasl: saslOf(mechanism, WRONG_PASSWORD) }),
      /^authentication$/,
      /queue\.sasl\.mechanism, username and password/,
    ]),
    ['mechanism (none)', () => ({ sasl: {} }), /^connection$/, /queue\.sasl\.mechanism/],
    ['authority', () => ({ tls: { ...TLS, ca_path: otherCa } }), /^tls$/, /queue\.tls\.ca_path/],
    ['authority (that of the system)', () => ({ tls: { enabled: true } }), /^tls$/, /queue\.tls\.ca_path/],
    ['host name', () => ({ brokers: [kafka.saslBroker.replace('localhost', '127.0.0.1')] }), /^tls$/, /certificate and name/],
    [
      'client certificate (none)',
      () => ({ brokers: [kafka.clientCertificateBroker], sasl: {} }),
      /^tls$/,
      /queue\.tls\.cert_path/,
    ],
    ['protocol (no TLS)', () => ({ tls: {} }), /^connection$/, /queue\.tls\.enabled/],
  ])('a wrong %s is named with what to do, and no secret is logged', async (_, keys, errorClass, nextStep) => {
    const { client, log } = clientOf(keys());
    await using publisher = new KafkaPublisher(client, { topic: TOPIC });
    const message = 'kafka publisher cannot connect; retrying';
    const line = await waitUntil(() => log.lines.find((one) => one.message === message), { what: message, timeoutMs: SLOW_MS });
    expect(line.details).toMatchObject({
      error_class: expect.stringMatching(errorClass),
      next_step: expect.stringMatching(nextStep),
    });
    expect(publisher.isReady).toBe(false);
    expectNoSecret(log.lines);
  });

  test('a wrong password ends the wait for a broker at once, with an error without secrets', async () => {
    const { client, log } = clientOf({ sasl: saslOf('scram-sha-512', WRONG_PASSWORD) });
    const waiting = waitForBroker(client, { withinMs: SLOW_MS, signal: new AbortController().signal, onWaiting: () => {} });
    const fault: unknown = await waiting.catch((error: unknown) => error);
    expect(fault).toMatchObject({ code: 'broker_unreachable', say: expect.stringMatching(/localhost:\d+: .*authentication/i) });
    expectNoSecret([fault, log.lines]);
  });
});
