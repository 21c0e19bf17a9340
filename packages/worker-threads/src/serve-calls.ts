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

/** The worker's half of `WorkerCalls`: replies to each call with what `handle` returns or throws, and ends on the close message. */
export function serveCalls(port: MessagePort, handle: (argument: unknown) => unknown, close: () => void): void {
  port.on('message', (message: Message) => {
    if ('close' in message) {
      close();
      port.close();
      return;
    }
    const { call, argument } = message;
    try {
      const result = handle(argument);
      const { value, buffers } = result instanceof Transfer ? result : { value: result, buffers: [] };
      port.postMessage({ call, value } satisfies CallResult, buffers);
    } catch (error) {
      port.postMessage({ call, error: messageOf(error) } satisfies CallResult);
    }
  });
}
