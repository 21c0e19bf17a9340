import type { StoreDatabase } from '@vitrine/stores/testing/store-database';
import { npmScript } from '@vitrine/testkit/npm-script';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { spawn } from 'node:child_process';
import { testVariables } from './start-test-store-api.ts';

const START_TIMEOUT_MS = 120_000;
const KEPT_OUTPUT = 65_536;

/** A store API in a separate process, started as in production. Disposal kills it. */
export interface Replica extends AsyncDisposable {
  readonly url: string;
  signal(name: NodeJS.Signals): void;
  /** Resolves with the exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
}

/** Starts a replica on any free port; several share a database. */
export async function startReplica(database: StoreDatabase): Promise<Replica> {
  const [file, ...args] = npmScript('store-api');
  // Test servers have a hundred connections for all running test files.
  const env = { ...testVariables(database), STORE_API_STORAGE_CONNECTIONS: '8' };
  const child = spawn(file, args, { cwd: '/', env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-KEPT_OUTPUT)));
  const { promise: ended, resolve } = Promise.withResolvers<number | NodeJS.Signals | null>();
  child.once('close', (code, signal) => resolve(code ?? signal));
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  const url = await waitUntil(
    () => {
      if (!isRunning()) throw new Error(`the store API has ended: ${output}`);
      return /"url":"(http:[^"]+)"/.exec(output)?.[1];
    },
    { what: 'the store API', timeoutMs: START_TIMEOUT_MS },
  );
  const signal = (name: NodeJS.Signals) => void child.kill(name);
  return {
    url,
    signal,
    ended,
    async [Symbol.asyncDispose]() {
      signal('SIGKILL');
      await ended;
    },
  };
}

/** Waits until no other session uses the database, so that transactions of a killed replica are committed or rolled back. */
export async function untilSessionsEnd({ owner }: StoreDatabase): Promise<void> {
  const sessions = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'vitrine-store-api'`;
  const what = 'the end of sessions';
  await waitUntil(async () => (await owner.query(sessions)).length === 0, { what, timeoutMs: START_TIMEOUT_MS });
}
