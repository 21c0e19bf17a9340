import { Fault, messageOf } from '@vitrine/faults/fault';
import kafkajs, { type Admin } from 'kafkajs';
import { setTimeout as wait } from 'node:timers/promises';
import { withAdmin, type KafkaClient } from './kafka-client.ts';

/** A minute, for brokers that have just started. */
const LEADER_TRIES = 300;
const LEADER_WAIT_MS = 200;

export interface TopicSettings {
  readonly topic: string;
  readonly partitions: number;
  /** -1: the brokers' default. */
  readonly replicationFactor: number;
  readonly retentionMs: number;
  /** Maximum size of one compressed batch of records. */
  readonly maxMessageBytes: number;
}

const KAFKA_NAMES = {
  partitions: 'partitions',
  replicationFactor: 'replication.factor',
  retentionMs: 'retention.ms',
  maxMessageBytes: 'max.message.bytes',
} as const;

/** `differs`: the topic exists with other settings, which are not changed. */
export interface TopicResult {
  readonly result: 'created' | 'exists' | 'partitions_added' | 'differs';
  /** The topic's current settings. */
  readonly settings: TopicSettings;
  /** What differs, such as `retention.ms: 1000 instead of 2000`. */
  readonly differences: readonly string[];
}

/** Creates missing topics and adds missing partitions; running again has no effect. Never removes partitions or changes settings, which an
 *  operator may have chosen. Rejects with kafkajs' error when no broker can be reached. Faults: `topics_refused`. */
export function ensureTopics(client: KafkaClient, topics: readonly TopicSettings[]): Promise<readonly TopicResult[]> {
  const ensure = async (admin: Admin) => {
    const existing = new Set(await admin.listTopics());
    const missing = topics.filter(({ topic }) => !existing.has(topic));
    // Returns false when another process has just created one of them, which is not an error.
    if (missing.length > 0) await admin.createTopics({ topics: missing.map(topicRequest), waitForLeaders: false });
    await untilLed(
      admin,
      missing.map(({ topic }) => topic),
    );
    const results: TopicResult[] = [];
    for (const settings of topics)
      results.push(missing.includes(settings) ? { result: 'created', settings, differences: [] } : await adjust(admin, settings));
    return results;
  };
  return withAdmin(client, ensure).catch((error: unknown) => {
    throw refusedTopics(error) ?? error;
  });
}

/** A broker may report a topic as unknown just after it was created, which kafkajs' own wait treats as an error. */
async function untilLed(admin: Admin, names: readonly string[]): Promise<void> {
  for (let tries = 1; names.length > 0; tries += 1) {
    try {
      const { topics } = await admin.fetchTopicMetadata({ topics: [...names] });
      if (topics.every(({ partitions }) => partitions.every(({ leader }) => leader >= 0))) return;
    } catch (error) {
      if (tries >= LEADER_TRIES || (error as { readonly type?: unknown }).type !== 'UNKNOWN_TOPIC_OR_PARTITION') throw error;
    }
    if (tries >= LEADER_TRIES) throw new Error(`no leader for all partitions of ${names.join(', ')}`);
    await wait(LEADER_WAIT_MS);
  }
}

function topicRequest({ topic, partitions, replicationFactor, retentionMs, maxMessageBytes }: TopicSettings) {
  const config = { [KAFKA_NAMES.retentionMs]: retentionMs, [KAFKA_NAMES.maxMessageBytes]: maxMessageBytes };
  const configEntries = Object.entries(config).map(([name, value]) => ({ name, value: String(value) }));
  return { topic, numPartitions: partitions, replicationFactor, configEntries };
}

async function adjust(admin: Admin, wanted: TopicSettings): Promise<TopicResult> {
  const { topic } = wanted;
  const found = await readSettings(admin, topic);
  const isSmaller = found.partitions < wanted.partitions;
  if (isSmaller) await admin.createPartitions({ topicPartitions: [{ topic, count: wanted.partitions }] });
  const settings = isSmaller ? { ...found, partitions: wanted.partitions } : found;
  const differences = differencesOf(settings, wanted);
  return { result: differences.length > 0 ? 'differs' : isSmaller ? 'partitions_added' : 'exists', settings, differences };
}

async function readSettings(admin: Admin, topic: string): Promise<TopicSettings> {
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
  const partitions = topics[0]?.partitions ?? [];
  const configNames = [KAFKA_NAMES.retentionMs, KAFKA_NAMES.maxMessageBytes];
  const resource = { type: kafkajs.ConfigResourceTypes.TOPIC, name: topic, configNames };
  const { resources } = await admin.describeConfigs({ resources: [resource], includeSynonyms: false });
  const found = new Map(resources[0]?.configEntries.map(({ configName, configValue }) => [configName, Number(configValue)]));
  return {
    topic,
    partitions: partitions.length,
    replicationFactor: partitions[0]?.replicas.length ?? 0,
    retentionMs: found.get(KAFKA_NAMES.retentionMs) ?? Number.NaN,
    maxMessageBytes: found.get(KAFKA_NAMES.maxMessageBytes) ?? Number.NaN,
  };
}

function differencesOf(found: TopicSettings, wanted: TopicSettings): string[] {
  const isDefault = (name: keyof typeof KAFKA_NAMES) => name === 'replicationFactor' && wanted[name] === -1;
  return Object.entries(KAFKA_NAMES)
    .map(([name, kafkaName]) => [name as keyof typeof KAFKA_NAMES, kafkaName] as const)
    .filter(([name]) => found[name] !== wanted[name] && !isDefault(name))
    .map(([name, kafkaName]) => `${kafkaName}: ${found[name]} instead of ${wanted[name]}`);
}

/** The settings related to a broker's error, by the type of kafkajs' error. */
const REFUSED_SETTINGS: Readonly<Record<string, string>> = {
  INVALID_REPLICATION_FACTOR: 'replication_factor',
  INVALID_PARTITIONS: 'partitions',
  INVALID_TOPIC_EXCEPTION: 'topic',
};

/** The fault for a broker's refusal to create topics; undefined for any other error. */
function refusedTopics(error: unknown): Fault | undefined {
  const { errors = [error] } = error as { readonly errors?: readonly unknown[] };
  const refusals = errors.map((one) => one as { readonly type?: string; readonly topic?: string });
  if (!refusals.every(({ type }) => typeof type === 'string')) return undefined;
  const lines = refusals.map((refusal) => {
    const { type = '', topic } = refusal;
    const parts = [topic, REFUSED_SETTINGS[type], `${messageOf(refusal)} (${type})`];
    return parts.filter((part) => part !== undefined).join(': ');
  });
  return new Fault('topics_refused', { say: `the broker refused to create topics\n  ${lines.join('\n  ')}`, cause: error });
}
