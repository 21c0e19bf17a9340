import { connect } from 'node:net';

/** The bytes that came back on a connection. */
export interface RawExchange {
  /** Latin-1. */
  readonly text: string;
  /** By the other side. */
  readonly isClosed: boolean;
}

export interface RawExchangeOptions {
  readonly ending: 'wait' | 'half-close' | 'reset';
  /** Whether all expected bytes have arrived. */
  readonly isEnough: (text: string) => boolean;
  /** Milliseconds without a byte after which the read ends. */
  readonly patienceMs: number;
}

/** Writes bytes on a new connection, and resolves to what came until either side ended it. */
export function rawExchange(
  port: number,
  bytes: Buffer,
  { ending, isEnough, patienceMs }: RawExchangeOptions,
): Promise<RawExchange> {
  const { promise, resolve } = Promise.withResolvers<RawExchange>();
  let text = '';
  let isOwnEnd = false;
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
  const leave = () => {
    isOwnEnd = true;
    socket.resetAndDestroy();
  };
  socket.setTimeout(patienceMs, leave);
  socket.setEncoding('latin1');
  socket.once('connect', () => {
    socket.write(bytes, () => {
      if (ending === 'half-close') socket.end();
      else if (ending === 'reset') leave();
    });
  });
  socket.on('data', (chunk: string) => {
    text += chunk;
    if (isEnough(text)) leave();
  });
  socket.on('end', () => socket.end());
  // Errors are handled by the close event.
  socket.on('error', () => {});
  socket.once('close', () => resolve({ text, isClosed: !isOwnEnd }));
  return promise;
}
