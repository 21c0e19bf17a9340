import { execFile } from 'node:child_process';
import { ROOT } from '../running-process.ts';

const DEFAULT_TIMEOUT_MS = 60_000;
const MAX_OUTPUT_BYTES = 64 * 1_048_576;
const SHOWN_OUTPUT = 4_000;

export interface CommandOptions {
  /** Standard input. */
  readonly input?: string;
  /** When it is killed; default 60 s. */
  readonly timeoutMs?: number;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Runs a program until it ends; resolves with its standard output. Another exit code than 0, or the timeout, is an error with the end of
 *  what it printed. Secrets belong in `input`: arguments are shown in errors. */
export function runCommand(file: string, args: readonly string[], options: CommandOptions = {}): Promise<string> {
  const { input = '', timeoutMs = DEFAULT_TIMEOUT_MS, cwd = ROOT, env = process.env } = options;
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const settings = { cwd, env, timeout: timeoutMs, maxBuffer: MAX_OUTPUT_BYTES, killSignal: 'SIGKILL' } as const;
  const child = execFile(file, args, settings, (error, stdout, stderr) => {
    if (error === null) return resolve(stdout);
    const end = error.killed === true ? `was killed after ${timeoutMs} ms` : `ended with ${error.code ?? error.signal}`;
    const printed = `${stdout.slice(-SHOWN_OUTPUT)}\n${stderr.slice(-SHOWN_OUTPUT)}`.trim();
    reject(new Error(`${file} ${args.join(' ')} ${end}: ${printed}`));
  });
  // A program that ends without reading its input closes the pipe: its exit code has the reason.
  child.stdin?.on('error', () => {});
  child.stdin?.end(input);
  return promise;
}
