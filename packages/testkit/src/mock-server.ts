import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { MockDialect } from './mock-dialect.ts';
import type { MockExchange } from './mock-exchange.ts';
import type { MockOptions, MockProvider } from './mock-provider.ts';
import { recordRequest, type RecordedRequest } from './recorded-request.ts';
import { serveExchange } from './serve-exchange.ts';

const MAX_RECEIVED = 1000;
/** Longer than any pause in a test, because an idle connection closed by the mock would look like a fault of the gateway. */
const KEEP_ALIVE_TIMEOUT_MS = 60_000;

/** Starts a server for a dialect. */
export async function startMockServer(dialect: MockDialect, options: MockOptions = {}): Promise<MockProvider> {
  const { host = '127.0.0.1', port = 0, chunkDelayMs = 0 } = options;
  const received: RecordedRequest[] = [];
  const live = new Set<ServerResponse>();
  const running = new Set<Promise<void>>();
  let exchanges = 0;
  let disposed = false;

  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS }, (request, response) => {
    exchanges++;
    const record = recordRequest(request);
    received.push(record);
    if (received.length > MAX_RECEIVED) received.shift();
    live.add(response);
    response.once('close', () => live.delete(response));
    const exchange: MockExchange = {
      number: exchanges,
      request,
      response,
      record,
      headers: dialect.headers(exchanges),
      chunkDelayMs,
      ...trackClient(request, response, record, () => disposed),
    };
    const served = serveExchange(exchange, dialect)
      .catch((error: unknown) => breakOff(exchange, dialect, error))
      .finally(() => running.delete(served));
    running.add(served);
  });
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address() as AddressInfo;

  return {
    url: `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`,
    received,
    get exchanges() {
      return exchanges;
    },
    get open() {
      return [...live].filter((response) => response.headersSent && !response.writableEnded).length;
    },
    async [Symbol.asyncDispose]() {
      disposed = true;
      const closed = server.listening ? once(server, 'close') : undefined;
      server.close();
      server.closeAllConnections();
      await closed;
      await Promise.all(running);
    },
  };
}

/** Detects when the connection closes before its exchange is over, and whether the client closed it. */
function trackClient(request: IncomingMessage, response: ServerResponse, record: RecordedRequest, disposed: () => boolean) {
  const gone = new AbortController();
  let ownDoing = false;
  const left = () => {
    if (!ownDoing && !disposed()) record.aborted = true;
  };
  // A connection error is handled by the close event. Without a listener it would end the process.
  request.on('error', () => {});
  response.on('error', () => {});
  // Node drops a request once its response has ended, so a request that is still arriving (`early`) would never end.
  const { socket } = request;
  const drop = () => void request.destroy();
  socket.once('close', drop);
  request.once('close', () => {
    socket.off('close', drop);
    if (!request.complete) left();
  });
  response.once('close', () => {
    if (!response.writableFinished) left();
    gone.abort();
  });
  return { signal: gone.signal, endsItself: () => void (ownDoing = true) };
}

/** An exchange that could not be finished: the client left, or the mock has a bug, which is then sent to the client as a 500. */
function breakOff({ response, headers, number, signal, endsItself }: MockExchange, dialect: MockDialect, error: unknown): void {
  if (signal.aborted || response.socket?.destroyed !== false) return;
  endsItself();
  if (response.headersSent) return void response.destroy();
  const body = JSON.stringify(dialect.error(500, `The mock failed: ${String(error)}`, number));
  response.writeHead(500, { ...headers, 'content-type': 'application/json' }).end(body);
}
