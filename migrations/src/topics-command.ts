import { command, stringOption, type CommandContext } from '@vitrine/command-line/command';
import { textTable, FORMAT_OPTION, formatResult } from '@vitrine/command-line/print-result';
import { wholeNumberOption } from '@vitrine/command-line/option-values';
import { readConfigFile } from '@vitrine/config/config-file';
import { messageOf } from '@vitrine/faults/fault';
import { ensureTopics, type TopicResult } from '@vitrine/kafka/ensure-topics';
import { createKafkaClient, type KafkaClient } from '@vitrine/kafka/kafka-client';
import { kafkaConnection } from '@vitrine/kafka/kafka-connection';
import type { KafkaLog } from '@vitrine/kafka/kafka-log';
import { waitForBroker } from '@vitrine/kafka/wait-for-broker';
import { readTopicsConfig, topicsOf } from './topics-config.ts';
import { setTimeout as wait } from 'node:timers/promises';

const CLIENT_ID = 'vitrine-topics';
const DEFAULT_WAIT_SECONDS = 60;
const MAX_WAIT_SECONDS = 86_400;
const HOUR_MS = 3_600_000;
/** kafkajs' log lines add nothing to the error of a command. */
const NO_LOG: KafkaLog = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** `npm run topics`, and what a job of the migrations image runs against the broker. */
export const topicsCommand = command({
  name: 'topics',
  summary: 'Creates the Kafka topics of traces, of scans and of their dead letters, and lists them.',
  options: {
    brokers: stringOption('LIST', 'host:port of brokers, with commas between them (VITRINE_KAFKA_BROKERS)'),
    topic: stringOption('NAME', 'of traces, vitrine.traces by default; dead letters go to NAME.dlq (VITRINE_KAFKA_TOPIC)'),
    partitions: stringOption('N', '12 by default: as many consumers of a topic have work at once (VITRINE_KAFKA_PARTITIONS)'),
    'replication-factor': stringOption(
      'N',
      "copies of each record; the brokers' default when not given (VITRINE_KAFKA_REPLICATION_FACTOR)",
    ),
    'retention-hours': stringOption('N', '168 by default: how long trace-writers may be away (VITRINE_KAFKA_RETENTION_HOURS)'),
    'max-message-bytes': stringOption('N', 'of a batch, compressed; 1048588 by default (VITRINE_KAFKA_MAX_MESSAGE_BYTES)'),
    wait: stringOption('SECONDS', `seconds to wait for a broker that does not respond; ${DEFAULT_WAIT_SECONDS} by default`),
    watch: stringOption(
      'SECONDS',
      'checks again at this interval in seconds, until SIGTERM, and creates missing topics; waits for brokers without a limit',
    ),
    ...FORMAT_OPTION,
    config: stringOption('FILE', 'YAML with the same keys under kafka, such as kafka.partitions'),
  },
  help: `Further variables: VITRINE_KAFKA_TLS_ENABLED, _TLS_CA_PATH, _TLS_CERT_PATH, _TLS_KEY_PATH; VITRINE_KAFKA_SASL_MECHANISM, _SASL_USERNAME,
_SASL_PASSWORD; VITRINE_KAFKA_DEAD_LETTERS_PARTITIONS (1) and VITRINE_KAFKA_DEAD_LETTERS_RETENTION_HOURS (720).

Run again, it adds partitions that are missing and changes nothing else: where a topic has other settings, they are shown and left alone.`,
  examples: [
    'npm run topics -- --brokers localhost:9092',
    'npm run topics -- --brokers kafka-1:9092,kafka-2:9092 --partitions 24 --replication-factor 3',
    'VITRINE_KAFKA_BROKERS=localhost:9092 npm run -s topics -- --format json',
  ],
  run: async ({ values }, context) => {
    const config = readTopicsConfig(readConfigFile(values.config), context.env, values);
    const waitSeconds = wholeNumberOption('--wait SECONDS', values.wait, 0, MAX_WAIT_SECONDS) ?? DEFAULT_WAIT_SECONDS;
    const watchSeconds = wholeNumberOption('--watch SECONDS', values.watch, 1, MAX_WAIT_SECONDS);
    const client = createKafkaClient(kafkaConnection(CLIENT_ID, config.kafka), NO_LOG);
    const ensure = () => ensureTopics(client, topicsOf(config));
    const show = (results: readonly TopicResult[]) =>
      context.stdout.write(formatResult(values.format, results.map(rowOf), tableOf));
    if (watchSeconds !== undefined) {
      const { signal } = stopBySignal(context);
      const onError = (message: string) => context.stderr.write(`topics: ${message}; trying again every ${watchSeconds} s\n`);
      await keepTopics({ ensure, intervalMs: watchSeconds * 1_000, signal, onResults: show, onError });
      return 0;
    }
    await untilReachable(client, waitSeconds, context);
    show(await ensure());
    return 0;
  },
});

function stopBySignal({ untilSignal }: CommandContext): AbortController {
  const stop = new AbortController();
  void untilSignal().then(() => stop.abort());
  return stop;
}

async function untilReachable(client: KafkaClient, seconds: number, context: CommandContext): Promise<void> {
  await waitForBroker(client, {
    withinMs: seconds * 1_000,
    signal: stopBySignal(context).signal,
    onWaiting: (error) =>
      context.stderr.write(`topics: waiting ${seconds} s at most for ${client.brokers.join(', ')}: ${messageOf(error)}\n`),
  });
}

/** With the names of the configuration. */
function rowOf({ result, settings, differences }: TopicResult) {
  return {
    topic: settings.topic,
    result,
    partitions: settings.partitions,
    replication_factor: settings.replicationFactor,
    retention_hours: settings.retentionMs / HOUR_MS,
    max_message_bytes: settings.maxMessageBytes,
    differences,
  };
}

function tableOf(rows: readonly ReturnType<typeof rowOf>[]): string {
  const notes = rows.flatMap(({ topic, differences }) => differences.map((text) => `${topic}: ${text}; left as it is\n`));
  const table = textTable(
    ['TOPIC', 'RESULT', 'PARTITIONS', 'REPLICATION', 'RETENTION', 'MAX MESSAGE'],
    rows.map((row) => [
      row.topic,
      row.result.replaceAll('_', ' '),
      String(row.partitions),
      row.replication_factor === -1 ? 'default' : String(row.replication_factor),
      `${row.retention_hours} h`,
      `${row.max_message_bytes} B`,
    ]),
  );
  return table + notes.join('');
}

interface KeepTopicsOptions {
  /** Creates what is missing. */
  readonly ensure: () => Promise<readonly TopicResult[]>;
  readonly intervalMs: number;
  readonly signal: AbortSignal;
  /** Called with what was created or extended; the first time with all topics. */
  readonly onResults: (results: readonly TopicResult[]) => void;
  /** Called once for an error until it passes. */
  readonly onError: (message: string) => void;
}

/** Creates topics whenever they are missing, such as those of a broker that has lost its disk, until the signal is aborted. */
export async function keepTopics({ ensure, intervalMs, signal, onResults, onError }: KeepTopicsOptions): Promise<void> {
  let isFirst = true;
  let lastError: string | undefined;
  while (!signal.aborted) {
    try {
      const results = await ensure();
      const changed = isFirst ? results : results.filter(({ result }) => result === 'created' || result === 'partitions_added');
      if (changed.length > 0) onResults(changed);
      isFirst = false;
      lastError = undefined;
    } catch (error) {
      const message = messageOf(error);
      if (message !== lastError) onError(message);
      lastError = message;
    }
    await wait(intervalMs, undefined, { signal }).catch(() => {});
  }
}
