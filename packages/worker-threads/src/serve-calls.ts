import { messageOf } from '@vitrine/faults/fault';
import type { MessagePort } from 'node:worker_threads';
import type { CallResult } from './worker-calls.ts';

type Message = { readonly call: number; readonly argument: unknown } | { readonly close: true };

/** An answer with buffers that are moved, not copied: the worker has them no more. */
export class Transfer {
  readonly value: unknown;
  readonly buffers: ArrayBuffer[];

  constructor(value: unknown, buffers: ArrayBuffer[]) {
    this.value = value;
    this.buffers = buffers;
  }
}

/** The worker's half of `WorkerCalls`: answers each call with what `answer` returns or throws, and ends when told to. */
export function serveCalls(port: MessagePort, answer: (argument: unknown) => unknown, close: () => void): void {
  port.on('message', (message: Message) => {
    if ('close' in message) {
      close();
      port.close();
      return;
    }
    const { call, argument } = message;
    try {
      const answered = answer(argument);
      const { value, buffers } = answered instanceof Transfer ? answered : { value: answered, buffers: [] };
      port.postMessage({ call, value } satisfies CallResult, buffers);
    } catch (error) {
      port.postMessage({ call, error: messageOf(error) } satisfies CallResult);
    }
  });
}
