import { spawn } from 'node:child_process';
import { openSync, closeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { npmScript } from '@vitrine/testkit/npm-script';
import { stop } from '../forked.ts';

const READY_WITHIN_MS = 20_000;
/** Small compared with a measured start of some 400 ms. */
const POLL_MS = 10;

export interface GatewayProcess {
  readonly pid: number;
  readonly port: number;
  /** When the process was started, on the clock of `performance.now()`. */
  readonly spawnedAt: number;
  /** The last lines that it printed. */
  logTail(): Promise<string>;
  /** The lines of its log of level `error`, bugs among them. */
  errors(): Promise<string[]>;
  stop(): Promise<void>;
}

export interface GatewayOptions {
  /** An empty folder, for its database and its log. */
  readonly home: string;
  /** The upstream of both providers. */
  readonly upstream: string;
  readonly variables?: Readonly<Record<string, string>>;
  /** The checkout of the gateway; by default this one. */
  readonly checkout?: URL | undefined;
}

/** Starts a gateway as its users do, with a fresh database, and waits until it is healthy. */
export async function startGateway(options: GatewayOptions): Promise<GatewayProcess> {
  const port = await freePort();
  const logFile = join(options.home, 'gateway.log');
  const log = openSync(logFile, 'w');
  const [node, ...args] = npmScript('gateway', options.checkout);
  const spawnedAt = performance.now();
  const child = spawn(node, args, {
    // Not the checkout, because a vitrine.yaml there would be read.
    cwd: options.home,
    stdio: ['ignore', log, log],
    env: {
      PATH: process.env['PATH'],
      SVC_SERVER_HOST: '127.0.0.1',
      SVC_SERVER_PORT: String(port),
      SVC_STORAGE_PATH: join(options.home, 'traces.db'),
      SVC_PROVIDERS_OPENAI_UPSTREAM: options.upstream,
      SVC_PROVIDERS_ANTHROPIC_UPSTREAM: options.upstream,
      ...options.variables,
    },
  });
  closeSync(log);
  const killNow = () => child.kill('SIGKILL');
  process.once('exit', killNow);
  const gateway: GatewayProcess = {
    pid: child.pid ?? 0,
    port,
    spawnedAt,
    logTail: async () => (await readFile(logFile, 'utf8')).trim().split('\n').slice(-30).join('\n'),
    errors: async () => (await readFile(logFile, 'utf8')).split('\n').filter((line) => /^\{"level":(?:"error"|50)/.test(line)),
    async stop() {
      process.off('exit', killNow);
      await stop(child);
    },
  };
  for (const end = Date.now() + READY_WITHIN_MS; Date.now() < end && child.exitCode === null; await sleep(POLL_MS)) {
    const response = await fetch(`http://127.0.0.1:${port}/api/health`).catch(() => undefined);
    if (response?.status === 200) return gateway;
  }
  const fate =
    child.exitCode === null ? `is not healthy after ${READY_WITHIN_MS / 1000} s` : `ended with status ${child.exitCode}`;
  await gateway.stop();
  throw new Error(`the gateway ${fate}; the end of its log:\n${await gateway.logTail()}`);
}

export async function freePort(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const server = createServer().listen(0, '127.0.0.1', resolve);
  await promise;
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
