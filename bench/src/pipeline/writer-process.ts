import { npmScript } from '@vitrine/testkit/npm-script';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { spawn } from 'node:child_process';
import { stop } from '../forked.ts';
import { freePort } from '../proxy/gateway-process.ts';
import { TOPIC, type Servers } from './servers.ts';

const START_TIMEOUT_MS = 30_000;

export interface WriterProcess {
  readonly pid: number;
  assignedPartitions(): Promise<number>;
}

/** Starts a trace-writer as its users do, as a member of `group`; `stack` stops it. */
export async function startWriter(servers: Servers, group: string, stack: AsyncDisposableStack): Promise<WriterProcess> {
  const port = await freePort();
  const [node, ...args] = npmScript('trace-writer');
  const child = spawn(node, args, {
    stdio: 'ignore',
    env: {
      PATH: process.env['PATH'],
      WRITER_SERVER_HOST: '127.0.0.1',
      WRITER_SERVER_PORT: String(port),
      WRITER_STORAGE_DSN: servers.dsn,
      WRITER_QUEUE_BROKERS: servers.brokers.join(','),
      WRITER_QUEUE_TOPIC: TOPIC,
      WRITER_QUEUE_GROUP: group,
    },
  });
  stack.defer(() => stop(child));
  const health = async () => {
    if (child.exitCode !== null) throw new Error(`a trace-writer ended with status ${child.exitCode}`);
    const response = await fetch(`http://127.0.0.1:${port}/api/health`).catch(() => undefined);
    return response?.status === 200 && ((await response.json()) as { assigned_partitions: number });
  };
  await waitUntil(health, { what: 'a trace-writer', timeoutMs: START_TIMEOUT_MS });
  return {
    pid: child.pid ?? 0,
    async assignedPartitions() {
      const state = await health();
      return state === false ? 0 : state.assigned_partitions;
    },
  };
}
