import { gzipSync } from 'node:zlib';
import type { HostileResponse } from './hostile-provider.ts';
import { referenceResponse, type Reference } from './reference-response.ts';

/** One behaviour of a provider for one request, and the expected result. */
export interface ChaosCase {
  readonly name: string;
  /** Nothing listens at the upstream of `anthropic`. */
  readonly route: 'openai' | 'anthropic';
  readonly method: 'POST' | 'HEAD';
  readonly response: HostileResponse;
  readonly reference: Reference;
  readonly expected: Expected;
}

export interface Expected {
  readonly outcome: 'completed' | 'upstream_error' | 'timeout';
  readonly upstreamError: string | undefined;
  /** Of the trace, and of the gateway's own response. */
  readonly status: number;
}

interface Sample {
  readonly name: string;
  readonly method: 'POST' | 'HEAD';
  readonly bytes: Buffer;
}

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const JSON_BODY = '{"id":"r","usage":{"prompt_tokens":1}}';
const ZIPPED = gzipSync(JSON_BODY);
const chunk = (data: string) => `${data.length.toString(16)}\r\n${data}\r\n`;

/** Complete responses of every kind. */
const SAMPLES: readonly Sample[] = [
  sample(
    'json',
    `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Request-Id: r\r\nContent-Length: ${JSON_BODY.length}\r\n\r\n${JSON_BODY}`,
  ),
  sample(
    'stream with trailers',
    `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n` +
      `${chunk('data: {"a":1}\n\n')}${chunk('data: [DONE]\n\n').replace('\r\n', ';x=y\r\n')}0\r\nX-Trailer: t\r\n\r\n`,
  ),
  {
    name: 'gzip',
    method: 'POST',
    bytes: Buffer.concat([
      latin1(
        `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: ${ZIPPED.length}\r\n\r\n`,
      ),
      ZIPPED,
    ]),
  },
  sample(
    'after informational ones',
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Length: 2\r\n\r\n{}`,
  ),
  sample('until the connection ends', 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/json\r\n\r\n{"a":1}'),
  sample('HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello'),
  sample('204', 'HTTP/1.1 204 No Content\r\nX-Request-Id: r\r\n\r\n'),
  sample('304', 'HTTP/1.1 304 Not Modified\r\nETag: "e"\r\nContent-Length: 38\r\n\r\n'),
  sample('HEAD', 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 38\r\n\r\n', 'HEAD'),
];

function sample(name: string, text: string, method: 'POST' | 'HEAD' = 'POST'): Sample {
  return { name, method, bytes: latin1(text) };
}

/** Nothing accepts the connection. */
export const refusals = (count: number): ChaosCase[] =>
  Array.from({ length: count }, (_, at) => ({
    name: `refusal ${at}`,
    route: 'anthropic',
    method: 'POST',
    response: { bytes: '', afterwards: 'reset' },
    reference: referenceResponse(Buffer.alloc(0), 'POST'),
    expected: { outcome: 'upstream_error', upstreamError: 'connect_refused', status: 502 },
  }));

/** The connection ends, in good order or by a reset, at every byte. */
export const cuts = (): ChaosCase[] => SAMPLES.flatMap((one) => [...prefixes(one, 'close'), ...prefixes(one, 'reset')]);
/** The provider stalls at every byte. */
export const stalls = (): ChaosCase[] => SAMPLES.flatMap((one) => prefixes(one, 'keep'));

/** Every byte is changed, missing or doubled; and surplus bytes follow the response. */
export const lies = (): ChaosCase[] =>
  SAMPLES.flatMap((one) => {
    const { bytes } = one;
    const edited = (at: number, gone: number, come: readonly number[]) =>
      Buffer.concat([bytes.subarray(0, at), Buffer.from(come), bytes.subarray(at + gone)]);
    const atEveryByte = [...bytes].flatMap((byte, at) => [
      caseOf(one, `bit 0 of byte ${at}`, edited(at, 1, [byte ^ 0x01]), 'close'),
      caseOf(one, `bit 7 of byte ${at}`, edited(at, 1, [byte ^ 0x80]), 'close'),
      caseOf(one, `a line feed for byte ${at}`, edited(at, 1, [0x0a]), 'close'),
      caseOf(one, `a NUL for byte ${at}`, edited(at, 1, [0]), 'close'),
      caseOf(one, `byte ${at} missing`, edited(at, 1, []), 'close'),
      caseOf(one, `byte ${at} twice`, edited(at, 0, [byte]), 'close'),
    ]);
    const behind = ['x', '\r\n', 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil'].flatMap((more) =>
      (['close', 'reset', 'keep'] as const)
        // Without a length they would be part of the response, which ends with the connection.
        .filter((afterwards) => afterwards === 'close' || one.name !== 'until the connection ends')
        .map((afterwards) =>
          caseOf(one, `${JSON.stringify(more)} behind it, then ${afterwards}`, Buffer.concat([bytes, latin1(more)]), afterwards),
        ),
    );
    return [...atEveryByte, ...behind];
  });

function prefixes(one: Sample, afterwards: HostileResponse['afterwards']): ChaosCase[] {
  return Array.from({ length: one.bytes.length + 1 }, (_, length) =>
    caseOf(one, `${afterwards} after ${length} bytes`, one.bytes.subarray(0, length), afterwards),
  );
}

function caseOf({ name, method }: Sample, what: string, bytes: Buffer, then: HostileResponse['afterwards']): ChaosCase {
  const reference = referenceResponse(bytes, method);
  // A connection with a complete response may be reused when it ends, which would make another case fail.
  const afterwards = reference.end === 'whole' && reference.surplus === 0 ? 'keep' : then;
  const expected = expectedOf(reference, afterwards);
  return { name: `${name}: ${what}`, route: 'openai', method, response: { bytes, afterwards }, reference, expected };
}

/** The expected trace. */
function expectedOf({ end, head, isUntilClose }: Reference, afterwards: HostileResponse['afterwards']): Expected {
  if (end === 'whole' || (end === 'partial' && isUntilClose && afterwards === 'close'))
    return { outcome: 'completed', upstreamError: undefined, status: head?.status ?? 0 };
  if (end === 'malformed') return { outcome: 'upstream_error', upstreamError: 'malformed_response', status: 502 };
  if (afterwards !== 'keep') return { outcome: 'upstream_error', upstreamError: 'reset', status: 502 };
  return { outcome: 'timeout', upstreamError: head === undefined ? 'first_byte_timeout' : 'idle_timeout', status: 504 };
}
