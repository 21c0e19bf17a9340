import { codeOf } from '@vitrine/faults/fault';
import { execFile } from 'node:child_process';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** Without it access(2), which the programs use to find each other, ignores capabilities. */
const OWN_CAPABILITIES = ['--securebits=+no_setuid_fixup'];

/** The user for the programs of Postgres, which refuse to run as root. */
export interface ServerUser {
  /** Owner of the data; undefined if this process is not root. */
  readonly owner: { readonly uid: number; readonly gid: number } | undefined;
  /** The command that changes the user; empty if `spawn` does. */
  readonly launcher: readonly string[];
}

/** This process's user; for root `postgres`, or `nobody` if it does not exist. If folders above the programs and the data are closed to that user,
 *  like /root, a capability allows it to traverse them. Root has this capability in containers too. Rejects with the folder to open if that is not
 *  possible. */
export async function findServerUser(program: string, folder: string): Promise<ServerUser> {
  if (userInfo().uid !== 0) return { owner: undefined, launcher: [] };
  const name = (await idOf('-u', 'postgres')) === undefined ? 'nobody' : 'postgres';
  const [uid, gid] = [await idOf('-u', name), await idOf('-g', name)];
  if (uid === undefined || gid === undefined)
    throw new Error('it cannot run as root, and there is neither a user postgres nor nobody');
  const owner = { uid, gid };
  const plain: ServerUser = { owner, launcher: [] };
  if (await canReach(plain, program, folder)) return plain;
  const capability = '+dac_override';
  const ids = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
  const able: ServerUser = {
    owner,
    launcher: ['setpriv', ...ids, ...OWN_CAPABILITIES, `--inh-caps=${capability}`, `--ambient-caps=${capability}`],
  };
  if (await canReach(able, program, folder)) return able;
  const closed = await firstClosed(plain, [program, folder]);
  throw new Error(`it runs as the user ${name}, because it cannot run as root, and ${name} cannot reach ${closed}`);
}

/** The program and arguments that run a program as this user, and the options for `spawn`. */
export function asServerUser({ owner, launcher }: ServerUser, program: string, args: readonly string[]) {
  const [file = program, ...rest] = [...launcher, program, ...args];
  return { file, args: rest, options: launcher.length === 0 ? { ...owner } : {} };
}

async function canReach(user: ServerUser, ...paths: readonly string[]): Promise<boolean> {
  const { file, args, options } = asServerUser(user, '/bin/sh', [
    '-c',
    'for path; do test -x "$path" || exit 1; done',
    'sh',
    ...paths,
  ]);
  try {
    await run(file, args, { ...options, cwd: '/' });
    return true;
  } catch (error) {
    // If it is missing or fails, there is no capability.
    if (codeOf(error) === 'ENOENT' || typeof (error as { code?: unknown }).code === 'number') return false;
    throw error;
  }
}

async function firstClosed(user: ServerUser, paths: readonly string[]): Promise<string> {
  for (const path of paths.flatMap(withParents)) if (!(await canReach(user, path))) return path;
  return paths.join(' and ');
}

/** Starting at the root. */
function withParents(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [...withParents(parent), path];
}

async function idOf(flag: string, name: string): Promise<number | undefined> {
  try {
    return Number((await run('id', [flag, name])).stdout);
  } catch {
    return undefined;
  }
}
