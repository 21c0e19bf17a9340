import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import type { CrowdOrder, CrowdResult } from './load.ts';

// Clients without a key: each connection sends its next request when it has the response, with a new key of the right form that nobody has. A
// process of its own, which ends with its parent.

const STATUS = /HTTP\/1\.1 (\d{3}) /g;

process.on('message', (order: CrowdOrder) => void runCrowd(order).then((result) => process.send?.(result)));
process.on('disconnect', () => process.exit(0));
process.send?.({ port: 0 });

async function runCrowd(order: CrowdOrder): Promise<CrowdResult> {
  const statuses: Record<string, number> = {};
  const startedAt = performance.now();
  const deadline = startedAt + order.seconds * 1_000;
  await Promise.all(Array.from({ length: order.connections }, () => runConnection(order.port, deadline, statuses)));
  const responses = Object.values(statuses).reduce((sum, count) => sum + count, 0);
  return { statuses, reqPerSec: responses / ((performance.now() - startedAt) / 1_000) };
}

function runConnection(port: number, deadline: number, statuses: Record<string, number>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const socket = connect({ host: '127.0.0.1', port, noDelay: true });
  const count = (what: string) => (statuses[what] = (statuses[what] ?? 0) + 1);
  const send = () => {
    const token = randomBytes(32).toString('base64url');
    socket.write(`GET /v1/account HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer svc_live_${token}\r\n\r\n`);
  };
  socket.setTimeout(deadline - performance.now(), () => socket.destroy());
  socket.once('connect', send);
  // Refusals are short: each comes in one segment.
  socket.on('data', (bytes: Buffer) => {
    for (const [, status = ''] of bytes.toString('latin1').matchAll(STATUS)) count(status);
    if (performance.now() < deadline) send();
    else socket.destroy();
  });
  socket.once('error', () => count('broken'));
  socket.once('close', () => resolve());
  return promise;
}
