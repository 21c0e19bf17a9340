import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

import { JSON_BODY, JSON_HEADERS, kindOf, STREAM_EVENTS, STREAM_HEADERS } from './exchange.ts';
import { serve } from './serve.ts';

/** The provider: a minimal node:http server. It drains the request, counts it and responds with prebuilt bytes. */
let exchanges = 0;

// Framed once: the parts of a stream go straight to the socket, which halves the mock's cost per stream. It shares two cores with the
// measured process.
const frames = STREAM_EVENTS.map((event) =>
  Buffer.concat([Buffer.from(`${event.length.toString(16)}\r\n`), event, Buffer.from('\r\n')]),
);
const CUT_AT_FRAME = 25;

interface Stream {
  readonly res: ServerResponse;
  readonly cut: boolean;
  next: number;
}
const streams = new Set<Stream>();
let ticking = false;

const server = createServer((req, res) => {
  exchanges += 1;
  req.once('data', (chunk: Buffer) => begin(req, res, chunk));
});

/** The body's first part decides; a request of 1.7 KB over loopback comes whole. */
function begin(req: IncomingMessage, res: ServerResponse, chunk: Buffer): void {
  req.resume();
  const kind = kindOf(chunk);
  if (kind === 'json') {
    res.writeHead(200, JSON_HEADERS).end(JSON_BODY);
    return;
  }
  const stream: Stream = { res, cut: kind === 'stream-cut', next: 0 };
  res.on('close', () => streams.delete(stream));
  res.writeHead(200, STREAM_HEADERS).flushHeaders();
  streams.add(stream);
  if (!ticking) setImmediate(tick);
  ticking = true;
}

/** One event per stream and turn of the event loop, so that every event is a packet of its own. */
function tick(): void {
  for (const stream of streams) {
    const frame = frames[stream.next];
    if (stream.cut && stream.next === CUT_AT_FRAME) {
      streams.delete(stream);
      stream.res.destroy();
    } else if (frame === undefined) {
      streams.delete(stream);
      stream.res.end();
    } else {
      stream.next += 1;
      stream.res.socket?.write(frame);
    }
  }
  ticking = streams.size > 0;
  if (ticking) setImmediate(tick);
}

// Longer than the pause between two loads on one target, so that a proxy's idle connection is not closed under its next request.
server.keepAliveTimeout = 120_000;
serve(server, () => exchanges);
