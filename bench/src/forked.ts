import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';

/** A helper process that is called over IPC, one call at a time. */
export interface Forked {
  readonly pid: number;
  readonly port: number;
  call(message: unknown): Promise<unknown>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts a source and waits until it reports its port. */
export function forked(source: URL, ...args: string[]): Promise<Forked> {
  return forkedWith([], source, ...args);
}

/** The same with flags of node. */
export async function forkedWith(execArgv: string[], source: URL, ...args: string[]): Promise<Forked> {
  const file = basename(source.pathname);
  const child = fork(source, args, { execArgv });
  const { port } = (await nextMessage(child, file)) as { port: number };
  return {
    pid: child.pid ?? 0,
    port,
    call(message) {
      const result = nextMessage(child, file);
      if (child.connected) child.send(message as object);
      return result;
    },
    [Symbol.asyncDispose]: () => stop(child),
  };
}

function nextMessage(child: ChildProcess, file: string): Promise<unknown> {
  if (hasEnded(child)) return Promise.reject(new Error(`${file} has ended`));
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const died = () => reject(new Error(`${file} has ended`));
  child.once('exit', died);
  child.once('message', (message) => {
    child.off('exit', died);
    resolve(message);
  });
  return promise;
}

/** Sends SIGTERM, and SIGKILL after 10 s. */
export async function stop(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await exit;
  clearTimeout(late);
}

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null;
