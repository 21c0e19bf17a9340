import type { EventEmitter } from 'node:events';

/** Ctrl+C reaches a program started by npm twice: from the terminal, and forwarded by npm. */
const ECHO_MS = 300;

/** Resolves with the first of `signals` that reaches the process. Signals within the next 300 ms are treated as duplicates and ignored. A later
 *  one ends the process at once, as users expect of a program that is slow to stop. */
export function untilSignal<S extends NodeJS.Signals>(process: EventEmitter, signals: readonly S[]): Promise<S> {
  const { promise, resolve } = Promise.withResolvers<S>();
  const handlers = signals.map((signal) => [signal, () => first(signal)] as const);
  const first = (signal: S) => {
    resolve(signal);
    setTimeout(() => {
      for (const [name, handler] of handlers) process.off(name, handler);
    }, ECHO_MS).unref();
  };
  for (const [signal, handler] of handlers) process.on(signal, handler);
  return promise;
}
