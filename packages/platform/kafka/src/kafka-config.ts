import type { ConfigFault } from '@vitrine/config/read-config';
import type { DeepPartial } from '@vitrine/config/partial-value';
import { Secret } from '@vitrine/config/secret';
import { z } from 'zod';

const MAX_BROKERS = 32;
const broker = z.string().regex(/^[^\s:/@]+:\d{1,5}$/, 'must be host:port');
/** Kafka's own rule, with room for the suffix of the dead letter topic. */
const topic = z.string().regex(/^[A-Za-z0-9._-]{1,240}$/, 'must be letters, digits, dots, dashes and underscores');
const path = z.string().min(1).optional();

/** Configuration keys for the topic of a service; the names are the YAML keys. */
export const kafkaKeys = (defaultTopic: string) => ({
  brokers: z.array(broker).max(MAX_BROKERS).default([]),
  topic: topic.default(defaultTopic),
  /** PEM files; without `ca_path`, the authorities of the system. */
  tls: z.strictObject({ enabled: z.boolean().default(false), ca_path: path, cert_path: path, key_path: path }).prefault({}),
  sasl: z
    .strictObject({
      mechanism: z.enum(['none', 'plain', 'scram-sha-256', 'scram-sha-512']).default('none'),
      username: z.string().default(''),
      password: z
        .string()
        .transform((text) => new Secret(text))
        .optional(),
    })
    .prefault({}),
});
export type KafkaKeys = Readonly<z.infer<z.ZodObject<ReturnType<typeof kafkaKeys>>>>;

/** Rules between these keys, which are under `section`. */
export function kafkaKeyFaults(section: string, { brokers, tls, sasl }: DeepPartial<KafkaKeys>): ConfigFault[] {
  const faults: ConfigFault[] = [];
  const add = (key: string, message: string) => void faults.push({ path: `${section}.${key}`, message });
  if (brokers?.length === 0) add('brokers', 'must name a broker, such as kafka:9092');
  if ((tls?.cert_path === undefined) !== (tls?.key_path === undefined)) add('tls', 'must have both of cert_path and key_path');
  if (tls?.enabled === false && tls.ca_path !== undefined) add('tls.ca_path', 'has no effect: tls.enabled is false');
  const hasCredentials = sasl?.username !== '' && sasl?.password !== undefined;
  if (sasl?.mechanism !== undefined && sasl.mechanism !== 'none' && !hasCredentials)
    add('sasl', `must have username and password, because the mechanism is ${sasl.mechanism}`);
  return faults;
}
