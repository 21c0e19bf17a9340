import { messageOf } from '@vitrine/faults/fault';
import type { MessagePort } from 'node:worker_threads';
import type { CallResult } from './worker-calls.ts';

type Message = { readonly call: number; readonly argument: unknown } | { readonly close: true };

/** A result with buffers that are transferred, not copied: the worker loses access to them. */
export class Transfer {
  readonly value: unknown;
  readonly buffers: ArrayBuffer[];

  constructor(value: unknown, buffers: ArrayBuffer[]) {
    this.value = value;
    this.buffers = buffers;
  }
}

/** The worker's half of `WorkerCalls`: responds to each call with the result or error of `handle`. On disposal of the other half, calls in
 *  progress are finished, then `close` is called and the thread ends. */
export function serveCalls(port: MessagePort, handle: (argument: unknown) => unknown, close: () => unknown): void {
  const pending = new Set<Promise<void>>();
  port.on('message', (message: Message) => {
    if ('close' in message) {
      void Promise.all(pending)
        .then(close)
        .finally(() => port.close());
      return;
    }
    const responding = respond(port, message.call, async () => handle(message.argument));
    pending.add(responding);
    void responding.then(() => pending.delete(responding));
  });
}

async function respond(port: MessagePort, call: number, handle: () => Promise<unknown>): Promise<void> {
  try {
    const handled = await handle();
    const { value, buffers } = handled instanceof Transfer ? handled : { value: handled, buffers: [] };
    port.postMessage({ call, value } satisfies CallResult, buffers);
  } catch (error) {
    port.postMessage({ call, error: messageOf(error) } satisfies CallResult);
  }
}
