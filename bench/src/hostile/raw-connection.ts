import { connect } from 'node:net';

/** What came back on a connection. */
export interface RawTalk {
  /** Latin-1. */
  readonly text: string;
  /** By the other side. */
  readonly isClosed: boolean;
}

export interface RawTalkOptions {
  readonly ending: 'wait' | 'half-close' | 'reset';
  /** Whether all has come that can be waited for. */
  readonly isEnough: (text: string) => boolean;
  /** Milliseconds without a byte, after which nothing more is waited for. */
  readonly patienceMs: number;
}

/** Writes bytes on a new connection, and resolves to what came until either side ended it. */
export function rawTalk(port: number, bytes: Buffer, { ending, isEnough, patienceMs }: RawTalkOptions): Promise<RawTalk> {
  const { promise, resolve } = Promise.withResolvers<RawTalk>();
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
  socket.on('data', (piece: string) => {
    text += piece;
    if (isEnough(text)) leave();
  });
  socket.on('end', () => socket.end());
  // What breaks shows in the close.
  socket.on('error', () => {});
  socket.once('close', () => resolve({ text, isClosed: !isOwnEnd }));
  return promise;
}
