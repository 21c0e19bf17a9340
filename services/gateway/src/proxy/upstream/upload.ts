import type { Socket } from 'node:net';
import type { Framing } from './request-head.ts';
import { upstreamError, type UpstreamError } from './upstream-error.ts';

/** Writes a request's body chunk by chunk, as fast as the provider reads it. Ends early and returns false when the connection is closed or
 *  `isOver` returns true. Throws errors from reading the body, and `request_failed` when its length differs from that in its head. */
export async function upload(
  socket: Socket,
  body: AsyncIterable<Buffer>,
  { length, isChunked, trailers }: Framing,
  isOver: () => boolean,
): Promise<boolean> {
  let sent = 0;
  for await (const chunk of body) {
    if (socket.destroyed || isOver()) return false;
    if (chunk.length === 0) continue;
    sent += chunk.length;
    if (length !== undefined && sent > length) throw wrongLength();
    const isRoom = isChunked ? writeChunk(socket, chunk) : socket.write(chunk);
    if (!isRoom) await drained(socket);
  }
  if (socket.destroyed || isOver()) return false;
  if (length !== undefined && sent < length) throw wrongLength();
  if (isChunked) socket.write(`0\r\n${linesOf(trailers?.() ?? [])}\r\n`, 'latin1');
  return true;
}

function writeChunk(socket: Socket, chunk: Buffer): boolean {
  socket.cork();
  socket.write(`${chunk.length.toString(16)}\r\n`, 'latin1');
  socket.write(chunk);
  const isRoom = socket.write('\r\n', 'latin1');
  socket.uncork();
  return isRoom;
}

function linesOf(headers: readonly string[]): string {
  return headers.map((text, at) => (at % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('');
}

/** Resolves when there is room again, or the connection is gone. */
function drained(socket: Socket): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const done = () => {
    socket.off('drain', done);
    socket.off('close', done);
    resolve();
  };
  socket.on('drain', done);
  socket.on('close', done);
  return socket.destroyed ? Promise.resolve() : promise;
}

function wrongLength(): UpstreamError {
  return upstreamError('request_failed', 'request body is not as long as its Content-Length');
}
