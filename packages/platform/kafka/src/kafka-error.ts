import { codeOf, messageOf } from '@vitrine/faults/fault';

const AT = 'docs/failure-modes.md#broker_unavailable';
/** By class, in the order in which the classes are tested. */
const NEXT_STEPS = {
  authentication: `correct queue.sasl.mechanism, username and password: the broker refused them: ${AT}`,
  authorization: `grant the user of queue.sasl rights on topic and group (kafka-acls.sh): ${AT}`,
  tls: `look at queue.tls.enabled, at the authority in queue.tls.ca_path, at the broker's certificate and name, and at queue.tls.cert_path and key_path where the broker requires a client certificate: ${AT}`,
  topic: `create the topic and its dead letter topic: ${AT}`,
  coordinator: `wait: brokers load the groups of consumers after a start, and the consumer tries again by itself: ${AT}`,
  timeout: `look at the load of the brokers, and whether its port uses TLS or not (queue.tls.enabled): ${AT}`,
  connection: `start the brokers of queue.brokers, or correct their addresses; a broker that closes connections may require TLS (queue.tls.enabled) or SASL (queue.sasl.mechanism): ${AT}`,
  unknown: `look at err, and at the log of the brokers: ${AT}`,
};

/** Why a request to the brokers failed. */
export type KafkaErrorClass = keyof typeof NEXT_STEPS;

/** Codes of OpenSSL and Node for a certificate or handshake that was refused. */
const TLS_CODES =
  /CERT|ERR_TLS|ERR_SSL|SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET)|EPROTO|HOSTNAME_MISMATCH|INVALID_CA|Client network socket disconnected/;
const CONNECTION_CODES = /^(?:ECONN\w+|EPIPE|ENOTFOUND|EAI_AGAIN|E(?:HOST|NET)\w+|KafkaJSConnection\w*|KafkaJSBrokerNotFound)$/;
const MAX_CAUSES = 8;

/** Fields of a log line about an error of kafkajs. */
export function kafkaErrorFields(err: unknown): { err: unknown; error_class: KafkaErrorClass; next_step: string } {
  const error_class = classifyKafkaError(err);
  return { err, error_class, next_step: NEXT_STEPS[error_class] };
}

export function classifyKafkaError(error: unknown): KafkaErrorClass {
  const causes = causesOf(error);
  const has = (pattern: RegExp, read: (cause: object) => string) => causes.some((cause) => pattern.test(read(cause)));
  if (has(/SASL/, kindOf) || has(/^SASL /, messageOf)) return 'authentication';
  if (has(/AUTHORIZATION_FAILED/, kindOf)) return 'authorization';
  if (has(TLS_CODES, (cause) => `${codeOf(cause)} ${messageOf(cause)}`)) return 'tls';
  if (has(/UNKNOWN_TOPIC|INVALID_TOPIC|KafkaJSTopicMetadata/, kindOf)) return 'topic';
  if (has(/GROUP_LOAD_IN_PROGRESS|COORDINATOR/, kindOf)) return 'coordinator';
  if (has(/TIMED_OUT|Timeout|ETIMEDOUT/, kindOf) || has(/^no result within|timeout/i, messageOf)) return 'timeout';
  return has(CONNECTION_CODES, codeOf) || has(CONNECTION_CODES, (cause) => textOf(cause, 'name')) ? 'connection' : 'unknown';
}

/** kafkajs wraps the error of each layer in its own error. */
function causesOf(error: unknown): object[] {
  const causes: object[] = [];
  for (let cause = error; cause instanceof Object && causes.length < MAX_CAUSES; cause = Reflect.get(cause, 'cause'))
    causes.push(cause);
  return causes;
}

/** Its name in kafkajs and in the protocol. */
function kindOf(error: object): string {
  return `${textOf(error, 'name')} ${textOf(error, 'type')} ${codeOf(error)}`;
}

function textOf(error: object, field: string): string {
  const value: unknown = Reflect.get(error, field);
  return typeof value === 'string' ? value : '';
}
