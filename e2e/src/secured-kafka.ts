import { TEST_CERTIFICATES } from '@vitrine/testkit/test-certificates';
import { readFileSync } from 'node:fs';
import { freePort, startKafka, type RunningKafka } from './environment.ts';

const KEY_STORE = '/tmp/broker.pem';
const TRUST_STORE = '/tmp/ca.pem';
const JAAS_FILE = '/tmp/jaas.conf';
const MODULES = 'org.apache.kafka.common.security';

/** Its certificate names `localhost`, which stands in both addresses. */
export interface SecuredKafka extends AsyncDisposable {
  /** SASL_SSL with PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512, each with the same user. */
  readonly saslBroker: string;
  /** SSL for clients with a certificate of the test authority. */
  readonly clientCertificateBroker: string;
}

export async function startSecuredKafka(username: string, password: string): Promise<SecuredKafka> {
  const { ca, server, serverKey } = TEST_CERTIFICATES;
  const [port, tlsPort] = [await freePort(), await freePort()];
  const jaas = `KafkaServer {
    ${MODULES}.plain.PlainLoginModule required user_${username}="${password}";
    ${MODULES}.scram.ScramLoginModule required;
  };`;
  const kafka = await startKafka({
    port,
    proxied: { port: tlsPort, proxyPort: tlsPort },
    settings: {
      // Programs in the container can only use this name.
      KAFKA_ADVERTISED_LISTENERS: `INTERNAL://localhost:9092,EXTERNAL://localhost:${port},PROXIED://localhost:${tlsPort}`,
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: 'INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT,EXTERNAL:SASL_SSL,PROXIED:SSL',
      KAFKA_LISTENER_NAME_PROXIED_SSL_CLIENT_AUTH: 'required',
      KAFKA_SASL_ENABLED_MECHANISMS: 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512',
      KAFKA_SSL_KEYSTORE_TYPE: 'PEM',
      KAFKA_SSL_KEYSTORE_LOCATION: KEY_STORE,
      KAFKA_SSL_TRUSTSTORE_TYPE: 'PEM',
      KAFKA_SSL_TRUSTSTORE_LOCATION: TRUST_STORE,
      JAVA_TOOL_OPTIONS: `-Djava.security.auth.login.config=${JAAS_FILE}`,
    },
    files: {
      [KEY_STORE]: readFileSync(serverKey, 'utf8') + readFileSync(server, 'utf8'),
      [TRUST_STORE]: readFileSync(ca, 'utf8'),
      [JAAS_FILE]: jaas,
    },
  });
  await using opened = new AsyncDisposableStack();
  opened.use(kafka);
  await Promise.all([256, 512].map((bits) => addScramUser(kafka, username, `SCRAM-SHA-${bits}=[password=${password}]`)));
  const running = opened.move();
  return {
    saslBroker: `localhost:${port}`,
    clientCertificateBroker: `localhost:${tlsPort}`,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** One mechanism for each call: a broker refuses two credentials of a user in one request. */
async function addScramUser(kafka: RunningKafka, username: string, credential: string): Promise<void> {
  const program = ['java', '-cp', '/opt/kafka/libs/*', 'kafka.admin.ConfigCommand', '--bootstrap-server', 'localhost:9092'];
  const change = ['--alter', '--entity-type', 'users', '--entity-name', username, '--add-config', credential];
  const { exitCode, output } = await kafka.exec([...program, ...change]);
  if (exitCode !== 0) throw new Error(output);
}
