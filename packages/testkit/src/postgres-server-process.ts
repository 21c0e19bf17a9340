// A Postgres server for the process with the id in the second argument: it ends with that process, in any case. The first argument is
// the folder of all its files. When it accepts connections, the folder contains a file `url`.
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { startEmbeddedServer } from './embedded-postgres-server.ts';

const PARENT_CHECK_MS = 250;
/** Durability would double the time of a suite, and no test simulates a power failure. */
const FAST = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_connections=200'];

const [folder = '', parent = ''] = process.argv.slice(2);
process.on('exit', (code) => {
  if (code !== 0) writeFileSync(join(folder, 'failed'), '');
});
const server = await startEmbeddedServer({ folder, settings: FAST, isKept: false });
writeFileSync(join(folder, 'url.tmp'), server.url);
renameSync(join(folder, 'url.tmp'), join(folder, 'url'));

while (isAlive(Number(parent))) await wait(PARENT_CHECK_MS);
await server[Symbol.asyncDispose]();
rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
process.exit();

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
