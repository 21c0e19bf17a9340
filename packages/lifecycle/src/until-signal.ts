import type { EventEmitter } from 'node:events';

/** Resolves with the first of `signals` that reaches the process. A second one ends the process at once, as people expect
 *  of a program that is slow to stop: the handlers are removed after the first. */
export function untilSignal<S extends NodeJS.Signals>(process: EventEmitter, signals: readonly S[]): Promise<S> {
  const { promise, resolve } = Promise.withResolvers<S>();
  const handlers = signals.map((signal) => [signal, () => resolve(signal)] as const);
  for (const [signal, handler] of handlers) process.once(signal, handler);
  return promise.finally(() => {
    for (const [signal, handler] of handlers) process.off(signal, handler);
  });
}
