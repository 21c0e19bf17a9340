import { messageOf } from '@vitrine/faults/fault';
import type { MessagePort } from 'node:worker_threads';
import type { Answer } from './worker-calls.ts';

type Message = { readonly call: number; readonly argument: unknown } | { readonly close: true };

/** The worker's half of `WorkerCalls`: answers each call with what `answer` returns or throws, and ends when told to. An answer of
 *  bytes is moved, not copied, and has to own its buffer. */
export function serveCalls(port: MessagePort, answer: (argument: unknown) => unknown, close: () => void): void {
  port.on('message', (message: Message) => {
    if ('close' in message) {
      close();
      port.close();
      return;
    }
    const { call, argument } = message;
    try {
      const value = answer(argument);
      port.postMessage({ call, value } satisfies Answer, value instanceof Uint8Array ? [value.buffer as ArrayBuffer] : []);
    } catch (error) {
      port.postMessage({ call, error: messageOf(error) } satisfies Answer);
    }
  });
}
