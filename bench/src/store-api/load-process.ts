import { connect, type Socket } from 'node:net';
import type { StoreLoadOrder, StoreLoadResult } from './load.ts';
import { domainOf, tokenOf } from './tokens.ts';

// The client of the bench: raw sockets in a closed loop, because fetch takes longer for 800 KB than the service. A separate process,
// which ends with its parent.

const BATCH = 100;
const HEAD_END = '\r\n\r\n';
const MAX_HEAD = 16_384;
const TOO_MANY_ERRORS = 100;
// Read synchronously and copied nowhere, so that all sockets can share it.
const buffer = Buffer.allocUnsafe(262_144);

interface Run {
  readonly order: StoreLoadOrder;
  readonly latencies: number[];
  readonly errors: Map<string, number>;
  readonly deadline: number;
  bytes: number;
  sent: number;
  /** When the last response that counts ended. */
  lastAt: number;
}

process.on('message', (order: StoreLoadOrder) => void runLoad(order).then((result) => process.send?.(result)));
process.on('disconnect', () => process.exit(0));
process.send?.({ port: 0 });

async function runLoad(order: StoreLoadOrder): Promise<StoreLoadResult> {
  const startedAt = performance.now();
  const cpu = process.cpuUsage();
  const run: Run = {
    order,
    latencies: [],
    errors: new Map(),
    deadline: startedAt + order.seconds * 1_000,
    bytes: 0,
    sent: 0,
    lastAt: startedAt,
  };
  await Promise.all(Array.from({ length: order.connections }, () => runConnection(run)));
  const { user, system } = process.cpuUsage(cpu);
  const sorted = run.latencies.toSorted((a, b) => a - b);
  const quantile = (share: number) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
  return {
    completed: sorted.length,
    errors: run.errors.values().reduce((sum, count) => sum + count, 0),
    errorSamples: [...run.errors].slice(0, 5).map(([why, count]) => `${count} x ${why}`),
    reqPerSec: (sorted.length / (run.lastAt - startedAt)) * 1_000,
    p50Ms: quantile(0.5),
    p95Ms: quantile(0.95),
    bytes: run.bytes / Math.max(1, sorted.length),
    clientCpuMicros: (user + system) / Math.max(1, run.sent),
  };
}

/** One request after the other until the time is over. */
function runConnection(run: Run): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let isOver = false;
  let sentAt = 0;
  let head: Buffer | undefined = Buffer.alloc(0);
  let left = 0;
  const next = () => {
    if (performance.now() >= run.deadline || run.errors.size > TOO_MANY_ERRORS) {
      isOver = true;
      socket.destroy();
      return resolve();
    }
    head = Buffer.alloc(0);
    run.sent += 1;
    sentAt = performance.now();
    socket.write(requestText(run.order, run.sent));
  };
  const fail = (why: string) => {
    if (isOver) return;
    isOver = true;
    run.errors.set(why, (run.errors.get(why) ?? 0) + 1);
    socket.destroy();
    resolve();
  };
  const read = (length: number) => {
    run.bytes += length;
    if (head !== undefined) {
      head = Buffer.concat([head, buffer.subarray(0, length)]);
      const end = head.indexOf(HEAD_END);
      if (end < 0) return head.length > MAX_HEAD ? fail('a head that does not end') : undefined;
      const text = head.toString('latin1', 0, end + 2);
      const size = /\r\ncontent-length: *(\d+)\r\n/i.exec(text)?.[1];
      if (!text.startsWith('HTTP/1.1 200') || size === undefined) return fail(head.toString('latin1', 0, 300));
      left = Number(size) - (head.length - end - HEAD_END.length);
      head = undefined;
    } else left -= length;
    if (left > 0) return;
    run.lastAt = performance.now();
    run.latencies.push(run.lastAt - sentAt);
    next();
  };
  const socket: Socket = connect({
    host: '127.0.0.1',
    port: run.order.port,
    noDelay: true,
    onread: {
      buffer,
      callback: (length) => {
        read(length);
        return true;
      },
    },
  });
  socket.once('connect', next);
  socket.on('error', (error) => fail(error.message));
  socket.once('close', () => fail('connection closed'));
  return promise;
}

function requestText({ kind, keys, stores }: StoreLoadOrder, n: number): string {
  const authorization = `Authorization: Bearer ${tokenOf(n % keys)}\r\n`;
  const random = () => domainOf(Math.floor(Math.random() * stores));
  if (kind === 'get') return `GET /v1/stores/${random()} HTTP/1.1\r\nHost: bench\r\n${authorization}\r\n`;
  const domains = new Set<string>();
  while (domains.size < BATCH) domains.add(random());
  const body = JSON.stringify({ domains: [...domains] });
  return `POST /v1/stores/enrich HTTP/1.1\r\nHost: bench\r\n${authorization}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}
