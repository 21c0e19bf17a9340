import type { IncomingMessage } from 'node:http';

/** What an answered request still sends is read up to this length: files for the providers are uploaded in parts of 64 MB. */
const DRAIN_MAX_BYTES = 128 * 1_048_576;
/** A client that sends less than this in such a time is cut: a refused upload must not hold a connection for as long as its sender likes. */
const SLOW_BYTES = 65_536;
const SLOW_CHECK_MS = 10_000;

/** Reads and drops what a request still sends that was refused, or answered early, however it is framed, and breaks the connection when
 *  that is too much or too slow. A client that is cut while it sends never sees why (RFC 9112, 9.6), and the SDKs try again then. To be called
 *  before the answer ends, or node drops what comes without counting it. */
export function drainRequest(
  request: IncomingMessage,
  whenDrained: () => void = () => {},
  slowCheckMs: number = SLOW_CHECK_MS,
): void {
  const { socket } = request;
  if (request.readableEnded || socket.destroyed) return whenDrained();
  let left = DRAIN_MAX_BYTES;
  let sinceCheck = 0;
  const check = setInterval(() => {
    if (sinceCheck < SLOW_BYTES) socket.destroy();
    sinceCheck = 0;
  }, slowCheckMs);
  const stop = () => {
    clearInterval(check);
    socket.off('close', stop);
  };
  socket.once('close', stop);
  request.on('data', ({ length }: Buffer) => {
    sinceCheck += length;
    left -= length;
    if (left < 0) socket.destroy();
  });
  request.once('end', () => {
    stop();
    whenDrained();
  });
}
