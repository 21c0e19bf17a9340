import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { waitUntil } from './wait-until.ts';

const STARTED_WITHIN_MS = 30_000;
const PROGRAM = fileURLToPath(new URL('./postgres-server-process.ts', import.meta.url));

// `jest.config.js` sets it: the parent process of all workers of a run.
const RUN = process.env['VITRINE_TEST_RUN'] ?? String(process.pid);

/** The superuser URL of a Postgres server: that of `VITRINE_TEST_POSTGRES_URL`, else one that this jest run starts at the first call in any
 *  worker, and that ends with the run. */
export async function postgresServer(): Promise<string> {
  const given = process.env['VITRINE_TEST_POSTGRES_URL'] ?? '';
  return given === '' ? serverIn(RUN) : given;
}

/** The URL of a Postgres server for one test file, which may change the settings of the server; it ends with the run. */
export function ownPostgresServer(): Promise<string> {
  return serverIn(`${RUN}-${randomUUID()}`);
}

async function serverIn(name: string): Promise<string> {
  const folder = join(tmpdir(), `vitrine-postgres-${name}`);
  // Undefined when another worker has made it.
  if (mkdirSync(folder, { recursive: true }) !== undefined) startServer(folder);
  const url = join(folder, 'url');
  await waitUntil(() => existsSync(url), { what: 'the Postgres server', timeoutMs: STARTED_WITHIN_MS }).catch(
    (cause: unknown) => {
      throw new Error(`Postgres did not start: ${readFileSync(join(folder, 'log'), 'utf8').slice(-2_000)}`, { cause });
    },
  );
  return readFileSync(url, 'utf8');
}

function startServer(folder: string): void {
  const log = openSync(join(folder, 'log'), 'a');
  spawn(process.execPath, [PROGRAM, folder, RUN], { stdio: ['ignore', log, log], detached: true }).unref();
}
