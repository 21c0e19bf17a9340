import { freePort } from '@vitrine/e2e/running-process';
import { npmScript } from '@vitrine/testkit/npm-script';
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stop } from '../forked.ts';
import { PEPPER } from './tokens.ts';

/** Heap flags of the service, for the baseline. */
export const HEAP_FLAGS: string[] = npmScript('store-api').filter((arg) => arg.includes('semi-space'));
const READY_WITHIN_MS = 60_000;

export interface ServiceProcess extends AsyncDisposable {
  readonly pid: number;
  readonly port: number;
}

/** Starts a store API like in production, and waits until it is ready. `home`: an empty folder for its log. */
export async function startService(home: string, dsn: string): Promise<ServiceProcess> {
  const port = await freePort();
  const logFile = join(home, 'store-api.log');
  const log = openSync(logFile, 'w');
  const [node, ...args] = npmScript('store-api');
  const child = spawn(node, args, {
    // Not the checkout, because a store-api.yaml there would be read.
    cwd: home,
    stdio: ['ignore', log, log],
    env: {
      PATH: process.env['PATH'],
      STORE_API_SERVER_HOST: '127.0.0.1',
      STORE_API_SERVER_PORT: String(port),
      STORE_API_STORAGE_DSN: dsn,
      STORE_API_AUTH_PEPPERS: `1:${PEPPER}`,
    },
  });
  closeSync(log);
  for (const end = Date.now() + READY_WITHIN_MS; Date.now() < end && child.exitCode === null; await sleep(50)) {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    if (response?.status === 200) return { pid: child.pid ?? 0, port, [Symbol.asyncDispose]: () => stop(child) };
  }
  await stop(child);
  throw new Error(`the store API did not get ready; the end of its log:\n${(await readFile(logFile, 'utf8')).slice(-2_000)}`);
}
