import { Fault, messageOf } from '@vitrine/faults/fault';
import { setTimeout as wait } from 'node:timers/promises';
import { withAdmin, type KafkaClient } from './kafka-client.ts';

const RETRY_MS = 1_000;
/** Waiting does not fix wrong credentials. */
const NOT_AWAITED = ['KafkaJSSASLAuthenticationError'];

interface BrokerWait {
  /** No further attempt begins after this time; the last one may take 10 s. */
  readonly withinMs: number;
  /** Ends the wait. */
  readonly signal: AbortSignal;
  /** Called once, with the error of the first attempt. */
  readonly onWaiting: (error: unknown) => void;
}

/** Waits until a broker responds. Faults: `broker_unreachable`. */
export async function waitForBroker(client: KafkaClient, { withinMs, signal, onWaiting }: BrokerWait): Promise<void> {
  const deadline = performance.now() + withinMs;
  let isReported = false;
  for (;;) {
    const error = await withAdmin(client, async () => undefined).catch((caught: unknown) => caught as Error);
    if (error === undefined) return;
    const isLast = NOT_AWAITED.includes(error.name) || performance.now() + RETRY_MS > deadline;
    if (!isLast && !isReported) onWaiting(error);
    isReported = true;
    if (!isLast) await wait(RETRY_MS, undefined, { signal }).catch(() => {});
    if (isLast || signal.aborted)
      throw new Fault('broker_unreachable', {
        say: `no connection to ${client.brokers.join(', ')}: ${messageOf(error)}`,
        cause: error,
      });
  }
}
