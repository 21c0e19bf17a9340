import { once } from 'node:events';
import { fork } from 'node:child_process';

/** Requests at a constant rate, independent of responses. */
export interface TrafficOrder {
  /** Of gateways, which get the requests in turn. */
  readonly urls: readonly string[];
  readonly gatewayKeys: readonly string[];
  /** Exchanges a second. */
  readonly rate: number;
  readonly seconds: number;
  /** What correlation ids begin with. */
  readonly run: string;
}

/** One request and its result for the client. */
export interface Exchange {
  /** The correlation id, which identifies its trace. */
  readonly id: string;
  /** Index in `urls`. */
  readonly gateway: number;
  /** 0 when the response was incomplete. */
  readonly status: number;
  /** `total_tokens` of the response; 0 when it has none. */
  readonly tokens: number;
  /** Milliseconds since the epoch. */
  readonly endedAt: number;
}

export type TrafficMessage =
  | { readonly kind: 'ready'; readonly upstream: string }
  | { readonly kind: 'progress'; readonly sent: number; readonly answered: number }
  | { readonly kind: 'done'; readonly exchanges: readonly Exchange[] };

/** A process with a mock provider and the clients of the gateways. */
export interface TrafficProcess extends AsyncDisposable {
  /** URL of the provider. */
  readonly upstream: string;
  run(
    order: TrafficOrder,
    onProgress: (sent: number, answered: number) => void,
    signal: AbortSignal,
  ): Promise<readonly Exchange[]>;
}

export async function startTraffic(): Promise<TrafficProcess> {
  const child = fork(new URL('./traffic-process.ts', import.meta.url), { serialization: 'advanced', execArgv: [] });
  const ended = once(child, 'exit');
  const [ready] = (await once(child, 'message')) as [TrafficMessage];
  if (ready.kind !== 'ready') throw new Error('the traffic process did not start');
  return {
    upstream: ready.upstream,
    run(order, onProgress, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<readonly Exchange[]>();
      child.on('message', (message: TrafficMessage) => {
        if (message.kind === 'progress') onProgress(message.sent, message.answered);
        if (message.kind === 'done') resolve(message.exchanges);
      });
      void ended.then(() => reject(new Error('the traffic process has ended')));
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      child.send(order);
      return promise.finally(() => child.removeAllListeners('message'));
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
