import { expect, test } from '@jest/globals';
import { kafkaErrorFields } from './kafka-error.ts';

/** An error like those of kafkajs that wraps another. */
const error = (fields: object, cause?: Error) => Object.assign(new Error('failed', { cause }), fields);
const retries = (cause: Error) => error({ name: 'KafkaJSNumberOfRetriesExceeded' }, cause);

test.each([
  [
    error({ name: 'KafkaJSSASLAuthenticationError', message: 'SASL PLAIN authentication failed' }),
    'authentication',
    /queue\.sasl/,
  ],
  [retries(error({ name: 'KafkaJSProtocolError', type: 'TOPIC_AUTHORIZATION_FAILED' })), 'authorization', /rights/],
  [retries(error({ name: 'KafkaJSConnectionError', code: 'SELF_SIGNED_CERT_IN_CHAIN' })), 'tls', /queue\.tls/],
  [error({ name: 'KafkaJSConnectionError', code: 'ERR_TLS_CERT_ALTNAME_INVALID' }), 'tls', /name/],
  [error({ name: 'KafkaJSProtocolError', type: 'GROUP_LOAD_IN_PROGRESS' }), 'coordinator', /by itself/],
  [error({ name: 'KafkaJSProtocolError', type: 'UNKNOWN_TOPIC_OR_PARTITION' }), 'topic', /create the topic/],
  [retries(error({ name: 'KafkaJSRequestTimeoutError' })), 'timeout', /load/],
  [new Error('no result within 3000 ms'), 'timeout', /load/],
  [retries(error({ name: 'KafkaJSConnectionError', code: 'ECONNREFUSED' })), 'connection', /start the brokers/],
  [new TypeError('x is undefined'), 'unknown', /err/],
  ['text', 'unknown', /err/],
])('%s is %s', (err, errorClass, nextStep) => {
  expect(kafkaErrorFields(err)).toEqual({ err, error_class: errorClass, next_step: expect.stringMatching(nextStep) });
});
