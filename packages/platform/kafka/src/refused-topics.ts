import { Fault, messageOf } from '@vitrine/faults/fault';

/** The settings that a broker's error is about, by the type of kafkajs' error. */
const SETTINGS: Readonly<Record<string, string>> = {
  INVALID_REPLICATION_FACTOR: 'replication_factor',
  INVALID_PARTITIONS: 'partitions',
  INVALID_TOPIC_EXCEPTION: 'topic',
};

/** The fault of an error that the broker responded to the creation of topics with; undefined for any other error. */
export function refusedTopics(error: unknown): Fault | undefined {
  const { errors = [error] } = error as { readonly errors?: readonly unknown[] };
  const refusals = errors.map((one) => one as { readonly type?: string; readonly topic?: string });
  if (!refusals.every(({ type }) => typeof type === 'string')) return undefined;
  const lines = refusals.map((refusal) => {
    const { type = '', topic } = refusal;
    const setting = SETTINGS[type];
    return `${topic === undefined ? '' : `${topic}: `}${setting === undefined ? '' : `${setting}: `}${messageOf(refusal)} (${type})`;
  });
  return new Fault('topics_refused', { say: `the broker refused to create topics\n  ${lines.join('\n  ')}`, cause: error });
}
