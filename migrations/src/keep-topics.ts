import { messageOf } from '@vitrine/faults/fault';
import type { TopicResult } from '@vitrine/kafka/ensure-topics';
import { setTimeout as wait } from 'node:timers/promises';

interface KeepTopicsOptions {
  /** Creates what is missing. */
  readonly ensure: () => Promise<readonly TopicResult[]>;
  readonly intervalMs: number;
  readonly signal: AbortSignal;
  /** Called with the created or extended topics; the first time with all topics. */
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
