import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { bodyEncoder, codingOf } from './body-encoder.ts';
import type { MockExchange } from './mock-exchange.ts';
import type { BodyChunk, MockResponse } from './mock-response.ts';
import { pseudoRandomBytes } from './pseudo-random-bytes.ts';
import type { Scenario } from './scenario.ts';

const LF = 0x0a;
const CR = 0x0d;
const [D, A, T] = Buffer.from('dat');
/** Starts like gzip, so that a decoder begins and then fails in the middle. */
const GARBAGE = Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]), pseudoRandomBytes(1000)]);

/** Writes the response according to the scenario, at the pace of the client. Throws when the client leaves. */
export async function writeResponse(exchange: MockExchange, scenario: Scenario, mock: MockResponse): Promise<void> {
  const { request, response, signal } = exchange;
  signal.throwIfAborted();
  const broken = scenario.has('bad-gzip');
  const coding = broken ? undefined : codingOf(scenario, request.headers);
  using encoder = coding === undefined ? undefined : bodyEncoder(coding);
  // Chunks of a body with a length would be joined again on the way; chunked framing keeps them apart.
  const framed = broken || encoder !== undefined || scenario.has('split') || mock.length === undefined;
  response.writeHead(mock.status, {
    ...exchange.headers,
    ...mock.headers,
    ...(framed ? {} : { 'content-length': mock.length }),
    ...(broken ? { 'content-encoding': 'gzip' } : {}),
    ...(coding === undefined ? {} : { 'content-encoding': coding }),
  });
  if (framed) response.flushHeaders();
  if (request.method === 'HEAD') return void response.end();
  const put = (bytes: Buffer) => writeBytes(response, scenario.has('split') ? awkwardChunks(bytes) : [bytes], signal);

  let contentChunks = 0;
  let first = true;
  for await (const chunk of broken ? [{ bytes: GARBAGE, content: true }] : mock.chunks) {
    if (isCut(mock, contentChunks, chunk)) {
      // Awaited here: leaving the loop ends an echo's request, and with it the connection.
      await cutOff(exchange);
      return;
    }
    // One turn of the event loop between chunks: a fast reader must not starve the process, and chunks are sent one by one.
    if (!first) await nextTurn(undefined, { signal });
    first = false;
    if (chunk.content && contentChunks > 0 && exchange.chunkDelayMs > 0) await wait(exchange.chunkDelayMs, undefined, { signal });
    await put(encoder === undefined ? chunk.bytes : await encoder.encode(chunk.bytes));
    if (chunk.content) contentChunks++;
    if (scenario.has('stall') && contentChunks > 0) await once(signal, 'abort');
  }
  if (isCut(mock, contentChunks)) return cutOff(exchange);
  if (encoder !== undefined) await put(await encoder.finish());
  response.end();
}

/** Whether to destroy the socket before `next`. With a cut after 0 chunks, earlier steps are still sent. */
function isCut({ cutAfter }: MockResponse, contentChunks: number, next?: BodyChunk): boolean {
  if (cutAfter === undefined || contentChunks < cutAfter) return false;
  return contentChunks > 0 || next === undefined || next.content;
}

async function writeBytes(response: ServerResponse, chunks: readonly Buffer[], signal: AbortSignal): Promise<void> {
  for (const bytes of chunks) {
    signal.throwIfAborted();
    if (bytes.length > 0 && !response.write(bytes)) await once(response, 'drain', { signal });
  }
}

/** Destroys the socket when everything written so far has been sent. */
async function cutOff(exchange: MockExchange): Promise<void> {
  const { socket } = exchange.response;
  await new Promise((resolve) => (socket === null ? resolve(undefined) : socket.write('', resolve)));
  exchange.endsItself();
  socket?.destroy();
}

/** Cuts at positions where a careless parser fails: before each UTF-8 continuation byte, between CR and LF, inside a blank line, and
 *  inside `data`. The chunks together are the bytes. */
export function awkwardChunks(bytes: Buffer): Buffer[] {
  const chunks: Buffer[] = [];
  let start = 0;
  for (let at = 1; at < bytes.length; at++) {
    if (!isAwkward(bytes, at)) continue;
    chunks.push(bytes.subarray(start, at));
    start = at;
  }
  if (start < bytes.length) chunks.push(bytes.subarray(start));
  return chunks;
}

function isAwkward(bytes: Buffer, at: number): boolean {
  const before = bytes[at - 1];
  const here = bytes[at] ?? 0;
  if ((here & 0xc0) === 0x80) return true;
  if (here === LF) return before === CR || before === LF;
  return here === A && before === T && bytes[at - 2] === A && bytes[at - 3] === D;
}
