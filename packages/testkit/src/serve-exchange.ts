import type { IncomingMessage } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { JsonObject, MockCall, MockDialect, MockErrorKind } from './mock-dialect.ts';
import type { MockExchange } from './mock-exchange.ts';
import { contentChunks, jsonResponse, type MockResponse, mockResponseOf } from './mock-response.ts';
import { pseudoRandomBlocks } from './pseudo-random-bytes.ts';
import { parseScenario, type Scenario, SCENARIO_HEADER } from './scenario.ts';
import { writeResponse } from './write-response.ts';

/** JSON up to here is parsed (Anthropic's own limit); what is longer is drained and refused with 413. */
const MAX_JSON_BYTES = 32 * 1024 * 1024;
const RETRY_AFTER = new Set([429, 503, 529]);
const STATUS_OF: Readonly<Record<MockErrorKind, number>> = {
  no_credential: 401,
  invalid_request: 400,
  not_found: 404,
  too_large: 413,
};

/** Serves one request; throws when the client leaves. */
export async function serveExchange(exchange: MockExchange, dialect: MockDialect): Promise<void> {
  const { request, response, signal } = exchange;
  const scenario = parseScenario(request.headers[SCENARIO_HEADER]?.toString());
  if (typeof scenario === 'string') {
    await readBody(exchange, false);
    return writeResponse(exchange, new Map(), errorResponse(exchange, dialect, new Map(), 'invalid_request', scenario));
  }
  const beforeBody = scenario.has('reset') || scenario.has('early') || scenario.has('echo');
  const instead = scenario.has('status') || scenario.has('redirect') || scenario.has('bytes');
  const body = beforeBody ? undefined : await readBody(exchange, !instead && routeOf(request, dialect)?.takes === 'json');
  const slowMs = scenario.get('slow');
  if (slowMs !== undefined) await wait(slowMs, undefined, { signal });

  if (scenario.has('reset')) {
    exchange.endsItself();
    response.socket?.resetAndDestroy();
  } else if (scenario.has('early')) {
    await writeResponse(exchange, scenario, earlyResponse(exchange, dialect, scenario));
    await readBody(exchange, false);
  } else if (scenario.has('echo')) {
    await writeResponse(exchange, scenario, echoResponse(exchange, scenario));
  } else {
    const mockResponse = insteadResponse(exchange, dialect, scenario) ?? providerResponse(exchange, dialect, scenario, body);
    await writeResponse(exchange, scenario, mockResponse);
  }
}

/** Reads the request to its end; returns the body if it should be collected and is not too long. */
async function readBody({ request, record }: MockExchange, collect: boolean): Promise<Buffer | undefined> {
  let chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) {
    record.add(chunk);
    if (collect && record.length <= MAX_JSON_BYTES) chunks.push(chunk);
    else chunks = [];
  }
  return collect && record.length <= MAX_JSON_BYTES ? Buffer.concat(chunks) : undefined;
}

/** The responses that replace the provider's on any path. */
function insteadResponse(exchange: MockExchange, dialect: MockDialect, scenario: Scenario): MockResponse | undefined {
  const status = scenario.get('status');
  if (status !== undefined) {
    const body = dialect.error(status, `The scenario requests status ${status}.`, exchange.number);
    return jsonResponse(status, body, scenario, RETRY_AFTER.has(status) ? { 'retry-after': '1' } : {});
  }
  if (scenario.has('redirect')) return jsonResponse(302, {}, scenario, { location: '/v1/redirected' });
  const bytes = scenario.get('bytes');
  if (bytes === undefined) return undefined;
  return streamResponse(scenario, 'application/octet-stream', pseudoRandomBlocks(bytes), bytes);
}

function echoResponse({ request, record }: MockExchange, scenario: Scenario): MockResponse {
  async function* arriving() {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      record.add(chunk);
      yield chunk;
    }
  }
  const length = Number(request.headers['content-length'] ?? Number.NaN);
  return streamResponse(scenario, request.headers['content-type'] ?? 'application/octet-stream', arriving(), length);
}

function streamResponse(
  scenario: Scenario,
  type: string,
  chunks: Iterable<Buffer> | AsyncIterable<Buffer>,
  length: number,
): MockResponse {
  return {
    status: 200,
    headers: { 'content-type': type },
    chunks: contentChunks(chunks),
    length: Number.isSafeInteger(length) ? length : undefined,
    cutAfter: scenario.get('cut'),
  };
}

/** The route's response to {}: the body is not read yet. */
function earlyResponse(exchange: MockExchange, dialect: MockDialect, scenario: Scenario): MockResponse {
  const route = routeOf(exchange.request, dialect);
  return route === undefined
    ? jsonResponse(200, {}, scenario)
    : mockResponseOf(route.respond(callOf(exchange, scenario, {})), scenario);
}

function providerResponse(
  exchange: MockExchange,
  dialect: MockDialect,
  scenario: Scenario,
  bytes: Buffer | undefined,
): MockResponse {
  const { request } = exchange;
  const refuse = (kind: MockErrorKind, what: string) => errorResponse(exchange, dialect, scenario, kind, what);
  const route = routeOf(request, dialect);
  if (!dialect.hasCredential(request.headers)) return refuse('no_credential', '');
  if (route === undefined) return refuse('not_found', `${request.method} ${request.url}`);
  if (route.takes === 'json' && bytes === undefined) return refuse('too_large', '');
  if (route.takes === 'multipart' && !/^multipart\/form-data\b/i.test(request.headers['content-type'] ?? '')) {
    return refuse('invalid_request', 'Could not parse multipart form');
  }
  const body = route.takes === 'json' ? parseObject(bytes?.toString() ?? '') : {};
  if (body === undefined) return refuse('invalid_request', 'We could not parse the JSON body of your request.');
  return mockResponseOf(route.respond(callOf(exchange, scenario, body)), scenario);
}

function errorResponse(
  x: MockExchange,
  dialect: MockDialect,
  scenario: Scenario,
  kind: MockErrorKind,
  what: string,
): MockResponse {
  const status = STATUS_OF[kind];
  return jsonResponse(status, dialect.error(status, dialect.say[kind](what), x.number), scenario);
}

function routeOf(request: IncomingMessage, dialect: MockDialect) {
  return dialect.routes.get(`${request.method} ${request.url?.split('?')[0]}`);
}

function callOf({ number, record }: MockExchange, scenario: Scenario, body: JsonObject): MockCall {
  return { number, body, start: record.body, length: record.length, scenario };
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    // Without a package: mocks also run in containers that have only this folder.
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}
