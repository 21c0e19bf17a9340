import { codeOf, messageOf } from '@vitrine/faults/fault';
import { spawn } from 'node:child_process';
import type { EventEmitter } from 'node:events';
import { constants } from 'node:os';

/** Signals that are passed on to the child; the terminal sends the first two to all of its foreground processes by itself. */
const OF_TERMINALS = ['SIGINT', 'SIGQUIT'] as const;
const FORWARDED = [...OF_TERMINALS, 'SIGTERM', 'SIGHUP'] as const;
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

export interface ChildProgram {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string | undefined;
}

/** How a child ended, with the exit code that a shell gives for it: its own, or 128 and the number of the signal that ended it. */
export interface ChildEnd {
  readonly exitCode: number;
  /** Why it could not be started: then the exit code is 127 when there is no such program, otherwise 126. */
  readonly failure?: string;
}

/** Runs a program on our own standard streams until it ends, and passes signals on to it meanwhile. `isTerminal`: whether a terminal
 *  is on our standard input. Ctrl+C reaches the child from there, and a second SIGINT from us would cut short what it does about the first. */
export function runChild(process: EventEmitter, { file, args, env, cwd }: ChildProgram, isTerminal: boolean): Promise<ChildEnd> {
  const { promise, resolve } = Promise.withResolvers<ChildEnd>();
  const child = spawn(file, args, { stdio: 'inherit', env, cwd });
  const handlers = FORWARDED.map((signal) => {
    const comesByItself = isTerminal && OF_TERMINALS.some((name) => name === signal);
    return [signal, () => void (comesByItself || child.kill(signal))] as const;
  });
  for (const [signal, handler] of handlers) process.on(signal, handler);
  const end = (how: ChildEnd) => {
    for (const [signal, handler] of handlers) process.off(signal, handler);
    resolve(how);
  };
  child.once('error', (error) => {
    // Once it runs, this only tells that a signal could not be sent.
    if (child.pid === undefined)
      end({ exitCode: codeOf(error) === 'ENOENT' ? NOT_FOUND : NOT_EXECUTABLE, failure: messageOf(error) });
  });
  child.once('exit', (code, signal) => end({ exitCode: code ?? 128 + (signal === null ? 0 : constants.signals[signal]) }));
  return promise;
}
