import { waitUntil } from '@vitrine/testkit/wait-until';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

/** The checkout. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** The specification's budget of a shutdown: four steps of 5 s. */
const END_WITHIN_MS = 20_000;
/** A start has no time limit, and takes long on a busy machine. */
const START_WITHIN_MS = 120_000;
const KEPT_OUTPUT = 1_048_576;

export interface ProcessOptions {
  readonly command: readonly [string, ...string[]];
  /** Its variables besides PATH and HOME. It inherits nothing else of our environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A command in a separate process group. Disposal kills the whole group in any state. */
export interface RunningProcess extends AsyncDisposable {
  readonly pid: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly isRunning: boolean;
  /** Sends a signal to the process alone, or to its whole group, as a terminal does for Ctrl+C. */
  signal(name: NodeJS.Signals, to?: 'process' | 'group'): void;
  /** Waits for the standard output to match; throws at once when the process has ended before. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
  /** Waits until a GET of `url` gets a 2xx. */
  untilServing(url: string): Promise<void>;
  /** Waits for the end; throws after 20 s, or `withinMs`. */
  end(withinMs?: number): Promise<ProcessEnd>;
}

export function startProcess({ command: [file, ...args], env = {}, cwd = ROOT }: ProcessOptions): RunningProcess {
  const own = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' };
  const child = spawn(file, args, { cwd, env: { ...own, ...env }, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => (said[name] = (said[name] + text).slice(-KEPT_OUTPUT)));
  let end: ProcessEnd | undefined;
  // 'close' comes after the last output.
  child.once('close', (code, signal) => (end = { code, signal }));
  child.once('error', (error) => (said.stderr += String(error)));
  const failure = (what: string) => new Error(`${what}; ${file} ${args.join(' ')} said:\n${said.stdout}\n${said.stderr}`);
  const until = <T>(what: string, check: () => Promise<T | undefined> | T | undefined, timeoutMs = START_WITHIN_MS) =>
    waitUntil(
      async () => {
        const result = await check();
        if (result === undefined && end !== undefined) throw failure(`it ended (${JSON.stringify(end)}) before ${what}`);
        return result;
      },
      { what, timeoutMs },
    ).catch((error: unknown) => {
      throw end === undefined ? failure(String(error)) : error;
    });
  return {
    pid: child.pid ?? 0,
    get stdout() {
      return said.stdout;
    },
    get stderr() {
      return said.stderr;
    },
    get isRunning() {
      return end === undefined && child.exitCode === null && child.signalCode === null;
    },
    signal: (name, to = 'process') => sendSignal(to === 'group' ? -(child.pid ?? 0) : (child.pid ?? 0), name),
    says: (pattern) => until(`it said ${pattern}`, () => pattern.exec(said.stdout) ?? undefined),
    async untilServing(url) {
      await until(`${url} responded with 2xx`, async () => ((await statusOf(url)) ?? 500) < 300 || undefined);
    },
    end: (withinMs = END_WITHIN_MS) => until('the process ended', () => end, withinMs),
    async [Symbol.asyncDispose]() {
      sendSignal(-(child.pid ?? 0), 'SIGKILL');
      if (child.pid !== undefined) await waitUntil(() => end, { what: `the end of process ${child.pid}` });
    },
  };
}

/** A port that nothing listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Whether a new connection to the port is refused. */
export function refusesConnections(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(port, '127.0.0.1');
  socket.once('connect', () => resolve(false));
  socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'));
  return promise.finally(() => socket.destroy());
}

/** An already ended process is not an error. A group outlives its leader. */
function sendSignal(pid: number, name: NodeJS.Signals): void {
  if (pid === 0) return;
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function statusOf(url: string): Promise<number | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return undefined;
  }
}
