import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import type { CrowdOrder, CrowdResult } from './load.ts';
import { domainOf, tokenOf } from './tokens.ts';

// Overloading clients: each connection sends its next request when it has the response. A separate process, which ends with its parent.

const STATUS = /HTTP\/1\.1 (\d{3}) /g;

process.on('message', (order: CrowdOrder) => void runCrowd(order).then((result) => process.send?.(result)));
process.on('disconnect', () => process.exit(0));
process.send?.({ port: 0 });

async function runCrowd(order: CrowdOrder): Promise<CrowdResult> {
  const statuses: Record<string, number> = {};
  const startedAt = performance.now();
  const deadline = startedAt + order.seconds * 1_000;
  await Promise.all(Array.from({ length: order.connections }, () => runConnection(order, deadline, statuses)));
  const responses = Object.values(statuses).reduce((sum, count) => sum + count, 0);
  return { statuses, reqPerSec: responses / ((performance.now() - startedAt) / 1_000) };
}

const pick = (keys: readonly number[]) => keys[Math.floor(Math.random() * keys.length)] ?? 0;

function runConnection({ port, keys, stores }: CrowdOrder, deadline: number, statuses: Record<string, number>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const socket = connect({ host: '127.0.0.1', port, noDelay: true });
  const count = (what: string) => (statuses[what] = (statuses[what] ?? 0) + 1);
  const send = () => {
    const token = keys === undefined ? `svc_live_${randomBytes(32).toString('base64url')}` : tokenOf(pick(keys));
    const path = keys === undefined ? 'account' : `stores/${domainOf(Math.floor(Math.random() * stores))}`;
    socket.write(`GET /v1/${path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${token}\r\n\r\n`);
  };
  socket.setTimeout(deadline - performance.now(), () => socket.destroy());
  socket.once('connect', send);
  // A head comes in one segment; the body of a lookup may come in another.
  socket.on('data', (bytes: Buffer) => {
    if (performance.now() >= deadline) socket.destroy();
    else
      for (const [, status = ''] of bytes.toString('latin1').matchAll(STATUS)) {
        count(status);
        send();
      }
  });
  socket.once('error', () => count('broken'));
  socket.once('close', () => resolve());
  return promise;
}
