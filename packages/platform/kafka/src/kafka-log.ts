import type { logCreator } from 'kafkajs';

type Line = (details: Readonly<Record<string, unknown>>, message: string) => void;

/** What this package needs of a logger; pino fits. */
export interface KafkaLog {
  readonly debug: Line;
  readonly info: Line;
  readonly warn: Line;
  readonly error: Line;
}

/** kafkajs logs an error for every response that it retries, so its lines are kept for debugging only. This package itself logs events for
 *  operators (an unavailable broker, unpublished records, a restarted consumer), once per change. */
export function debugLogCreator(log: KafkaLog): logCreator {
  return () =>
    ({ namespace, label, log: { message, ...details } }) => {
      const kafkajs = { ...details, level: label.toLowerCase(), namespace, message };
      log.debug({ kafkajs }, 'kafkajs');
    };
}
