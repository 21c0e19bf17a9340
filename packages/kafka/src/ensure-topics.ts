import type { Admin } from 'kafkajs';
import kafkajs from 'kafkajs';
import type { KafkaClient } from './kafka-client.ts';

export interface TopicSettings {
  readonly topic: string;
  readonly partitions: number;
  /** -1: the brokers' default. */
  readonly replicationFactor: number;
  readonly retentionMs: number;
  /** Of one batch of records, compressed. */
  readonly maxMessageBytes: number;
}

/** `differs`: the topic is there with other settings, which are left alone. */
export type TopicResult =
  | { readonly topic: string; readonly result: 'created' | 'exists' | 'partitions_added' }
  | { readonly topic: string; readonly result: 'differs'; readonly differences: readonly string[] };

/** Creates the topics that are missing and adds missing partitions; run again, it changes nothing. Partitions are never taken away and
 *  settings never changed: those may be an operator's. Rejects with kafkajs' error when no broker can be reached. */
export async function ensureTopics({ kafka }: KafkaClient, topics: readonly TopicSettings[]): Promise<readonly TopicResult[]> {
  const admin = kafka.admin();
  try {
    await admin.connect();
    const existing = new Set(await admin.listTopics());
    const missing = topics.filter(({ topic }) => !existing.has(topic));
    // False when another process has just created one of them, which is as good.
    if (missing.length > 0) await admin.createTopics({ topics: missing.map(topicRequest), waitForLeaders: true });
    const results: TopicResult[] = [];
    for (const settings of topics) {
      results.push(missing.includes(settings) ? { topic: settings.topic, result: 'created' } : await adjust(admin, settings));
    }
    return results;
  } finally {
    await admin.disconnect();
  }
}

function topicRequest({ topic, partitions, replicationFactor, ...settings }: TopicSettings) {
  const configEntries = Object.entries(configOf(settings)).map(([name, value]) => ({ name, value }));
  return { topic, numPartitions: partitions, replicationFactor, configEntries };
}

function configOf({ retentionMs, maxMessageBytes }: Pick<TopicSettings, 'retentionMs' | 'maxMessageBytes'>) {
  return { 'retention.ms': String(retentionMs), 'max.message.bytes': String(maxMessageBytes) };
}

async function adjust(admin: Admin, settings: TopicSettings): Promise<TopicResult> {
  const { topic, partitions: wanted } = settings;
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
  const partitions = topics[0]?.partitions.length ?? 0;
  const differences = await differencesOf(admin, settings);
  if (partitions > wanted) differences.push(`partitions: ${partitions} instead of ${wanted}`);
  if (partitions < wanted) await admin.createPartitions({ topicPartitions: [{ topic, count: wanted }] });
  if (differences.length > 0) return { topic, result: 'differs', differences };
  return { topic, result: partitions < wanted ? 'partitions_added' : 'exists' };
}

async function differencesOf(admin: Admin, { topic, ...settings }: TopicSettings): Promise<string[]> {
  const wanted = configOf(settings);
  const resource = { type: kafkajs.ConfigResourceTypes.TOPIC, name: topic, configNames: Object.keys(wanted) };
  const { resources } = await admin.describeConfigs({ resources: [resource], includeSynonyms: false });
  const found = new Map(resources[0]?.configEntries.map(({ configName, configValue }) => [configName, configValue]));
  return Object.entries(wanted)
    .filter(([name, value]) => found.get(name) !== value)
    .map(([name, value]) => `${name}: ${found.get(name)} instead of ${value}`);
}
