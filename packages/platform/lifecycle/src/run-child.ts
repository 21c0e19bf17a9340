import { codeOf, messageOf } from '@vitrine/faults/fault';
import { spawn } from 'node:child_process';
import type { EventEmitter } from 'node:events';
import { constants } from 'node:os';

/** Signals that a terminal itself sends to all of its foreground processes. */
const TERMINAL_SIGNALS = ['SIGINT', 'SIGQUIT'] as const;
const FORWARDED = [...TERMINAL_SIGNALS, 'SIGTERM', 'SIGHUP'] as const;
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

export interface ChildProgram {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string | undefined;
}

/** How a child ended, with the exit code of a shell: the child's own, or 128 plus the number of the signal that ended it. */
export interface ChildExit {
  readonly exitCode: number;
  /** Why it could not be started: the exit code is 127 when there is no such program, otherwise 126. */
  readonly failure?: string;
}

/** Runs a program on our own standard streams until it ends, and forwards signals to it meanwhile. `isTerminal`: whether our standard
 *  input is a terminal. The terminal sends Ctrl+C to the child too, and a second SIGINT from us would interrupt its handling of the first. */
export function runChild(process: EventEmitter, { file, args, env, cwd }: ChildProgram, isTerminal: boolean): Promise<ChildExit> {
  const { promise, resolve } = Promise.withResolvers<ChildExit>();
  const forwarded = FORWARDED.filter((signal) => !isTerminal || !TERMINAL_SIGNALS.some((name) => name === signal));
  const handlers = FORWARDED.map((signal) => [signal, () => void (forwarded.includes(signal) && child.kill(signal))] as const);
  // Installed before the child runs, because a signal right after its start would otherwise end this process and leave the child behind.
  for (const [signal, handler] of handlers) process.on(signal, handler);
  const child = spawn(file, args, { stdio: 'inherit', env, cwd });
  const end = (exit: ChildExit) => {
    for (const [signal, handler] of handlers) process.off(signal, handler);
    resolve(exit);
  };
  child.once('error', (error) => {
    // If there is a pid, the child is running, and the error is only a signal that could not be sent.
    if (child.pid === undefined)
      end({ exitCode: codeOf(error) === 'ENOENT' ? NOT_FOUND : NOT_EXECUTABLE, failure: messageOf(error) });
  });
  child.once('exit', (code, signal) => end({ exitCode: code ?? 128 + (signal === null ? 0 : constants.signals[signal]) }));
  return promise;
}
