import type { OutgoingHttpHeaders } from 'node:http';
import type { RouteResult } from './mock-dialect.ts';
import type { Scenario } from './scenario.ts';
import { encodeEvent } from './sse-event.ts';

/** One step of writing a body; `content` marks the content chunks that `cut`, `stall` and the delay count. */
export interface BodyChunk {
  readonly bytes: Buffer;
  readonly content: boolean;
}

/** A response that is ready to be written. */
export interface MockResponse {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly chunks: Iterable<BodyChunk> | AsyncIterable<BodyChunk>;
  /** Length of the whole body in bytes, if known before writing. */
  readonly length?: number | undefined;
  /** After how many content chunks to destroy the socket. */
  readonly cutAfter: number | undefined;
}

const BLANKS = Buffer.alloc(16 * 1024, ' ');

/** Applies the scenario to a route's result. */
export function mockResponseOf(result: RouteResult, scenario: Scenario): MockResponse {
  if (result.kind === 'json' && !scenario.has('endless')) return jsonResponse(200, result.body, scenario);
  const events = result.kind === 'events';
  return {
    status: 200,
    headers: events
      ? { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' }
      : { 'content-type': 'application/json' },
    chunks: events ? eventChunks(result, scenario.has('crlf') ? '\r\n' : '\n') : blankChunks(),
    cutAfter: scenario.get('cut'),
  };
}

export function jsonResponse(status: number, body: unknown, scenario: Scenario, headers: OutgoingHttpHeaders = {}): MockResponse {
  const bytes = Buffer.from(JSON.stringify(body));
  // Halves only if the middle matters, because a small body is sent in one segment.
  const half = scenario.has('cut') || scenario.has('stall') ? Math.floor(bytes.length / 2) : bytes.length;
  const halves = [bytes.subarray(0, half), bytes.subarray(half)].filter((part) => part.length > 0);
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    chunks: halves.map((bytes, index) => ({ bytes, content: index === 0 })),
    length: bytes.length,
    cutAfter: scenario.has('cut') ? 1 : undefined,
  };
}

/** A body of consecutive byte chunks, each counted as a content chunk. */
export async function* contentChunks(chunks: Iterable<Buffer> | AsyncIterable<Buffer>): AsyncGenerator<BodyChunk> {
  for await (const bytes of chunks) yield { bytes, content: true };
}

function* eventChunks({ events }: Extract<RouteResult, { kind: 'events' }>, lineEnd: string): Generator<BodyChunk> {
  for (const event of events) yield { bytes: encodeEvent(event, lineEnd), content: event.content === true };
}

function* blankChunks(): Generator<BodyChunk> {
  for (;;) yield { bytes: BLANKS, content: true };
}
