import { inspectConfig, invalidConfig, type ConfigSource } from '@vitrine/config/read-config';
import { deadLetterTopic } from '@vitrine/kafka/consume/dead-letter';
import type { TopicSettings } from '@vitrine/kafka/ensure-topics';
import { kafkaKeyFaults, kafkaKeys } from '@vitrine/kafka/kafka-config';
import { z } from 'zod';

const PREFIX = 'VITRINE_';
/** Other variables with the prefix are read by other programs. */
const OWN_PREFIX = 'VITRINE_KAFKA_';
const HOUR_MS = 3_600_000;
/** A dead letter is its record and up to six headers more. */
const DEAD_LETTER_HEADER_BYTES = 65_536;

const partitions = z.int().min(1).max(10_000);
const retentionHours = z.int().min(1).max(87_600);

/** Same as in packages/stores/model; a chart test compares them. */
export const SCAN_TOPICS: readonly string[] = ['vitrine.scans.requested', 'vitrine.scans.routine'];

/** Brokers and settings of the topics. */
const topicsConfig = z.strictObject({
  kafka: z
    .strictObject({
      ...kafkaKeys('vitrine.traces'),
      /** Partitions of each topic, the maximum number of active consumers. */
      partitions: partitions.default(12),
      /** -1: the brokers' default. */
      replication_factor: z
        .int()
        .min(-1)
        .max(32)
        .refine((factor) => factor !== 0, 'must be -1 (default of the brokers) or 1 to 32')
        .default(-1),
      /** How long trace-writers may be unavailable before traces are lost. */
      retention_hours: retentionHours.default(168),
      /** Of a batch, compressed; Kafka's own default. */
      max_message_bytes: z.int().min(10_000).max(67_108_864).default(1_048_588),
      dead_letters: z
        .strictObject({ partitions: partitions.default(1), retention_hours: retentionHours.default(720) })
        .prefault({}),
    })
    .prefault({}),
});
type TopicsConfig = z.infer<typeof topicsConfig>;

/** The options of the command that set a key, which win over its variable. */
const KEY_OPTIONS = {
  brokers: 'kafka.brokers',
  topic: 'kafka.topic',
  partitions: 'kafka.partitions',
  'replication-factor': 'kafka.replication_factor',
  'retention-hours': 'kafka.retention_hours',
  'max-message-bytes': 'kafka.max_message_bytes',
} as const;
type KeyOptions = Readonly<Partial<Record<keyof typeof KEY_OPTIONS, string | undefined>>>;

/** Reads YAML, environment and options. Faults: `invalid_config`, which names the option where one set the key. */
export function readTopicsConfig(yaml: ConfigSource['yaml'], env: ConfigSource['env'], options: KeyOptions): TopicsConfig {
  const names = Object.keys(KEY_OPTIONS) as (keyof typeof KEY_OPTIONS)[];
  const given = names.filter((name) => options[name] !== undefined);
  const variables = Object.fromEntries([
    ...Object.entries(env).filter(([name]) => name.startsWith(OWN_PREFIX)),
    ...given.map((name) => [`${OWN_PREFIX}${name.replaceAll('-', '_').toUpperCase()}`, options[name]]),
  ]) as ConfigSource['env'];
  const { config, faults } = inspectConfig(topicsConfig, { yaml, env: variables, prefix: PREFIX }, [
    ({ kafka = {} }) => kafkaKeyFaults('kafka', kafka),
  ]);
  if (config !== undefined) return config;
  // The position in the list identifies a faulty broker.
  const optionOf = (path: string) => given.find((name) => path.startsWith(KEY_OPTIONS[name]));
  throw invalidConfig(
    faults.map((fault) => {
      const option = optionOf(fault.path);
      return option === undefined ? fault : { ...fault, variable: `--${option}` };
    }),
  );
}

/** The topic of traces and those of scans, each with that of its dead letters. */
export function topicsOf({ kafka }: TopicsConfig): readonly TopicSettings[] {
  return [kafka.topic, ...SCAN_TOPICS].flatMap((topic) => withDeadLetters(topic, kafka));
}

function withDeadLetters(topic: string, kafka: TopicsConfig['kafka']): readonly TopicSettings[] {
  const { replication_factor: replicationFactor, max_message_bytes: maxMessageBytes, dead_letters } = kafka;
  return [
    {
      topic,
      partitions: kafka.partitions,
      replicationFactor,
      retentionMs: kafka.retention_hours * HOUR_MS,
      maxMessageBytes,
    },
    {
      topic: deadLetterTopic(topic),
      partitions: dead_letters.partitions,
      replicationFactor,
      retentionMs: dead_letters.retention_hours * HOUR_MS,
      maxMessageBytes: maxMessageBytes + DEAD_LETTER_HEADER_BYTES,
    },
  ];
}
