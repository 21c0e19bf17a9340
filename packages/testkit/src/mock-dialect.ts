import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { Scenario } from './scenario.ts';
import type { SseEvent } from './sse-event.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** A request for a route. */
export interface MockCall {
  /** The exchange's number, from 1; every id in the response is derived from it. */
  readonly number: number;
  /** The JSON body, {} for a route that takes none. */
  readonly body: JsonObject;
  /** The first MiB of the raw body, and its total length in bytes. */
  readonly start: Buffer;
  readonly length: number;
  readonly scenario: Scenario;
}

export type RouteResult =
  | { readonly kind: 'json'; readonly body: unknown }
  | { readonly kind: 'events'; readonly events: Iterable<SseEvent> };

interface MockRoute {
  readonly takes: 'json' | 'multipart' | 'nothing';
  readonly respond: (call: MockCall) => RouteResult;
}

export type MockErrorKind = 'no_credential' | 'invalid_request' | 'not_found' | 'too_large';

/** The differences between providers. */
export interface MockDialect {
  /** By method and path: `POST /v1/messages`. */
  readonly routes: ReadonlyMap<string, MockRoute>;
  readonly hasCredential: (headers: IncomingHttpHeaders) => boolean;
  /** The headers of every response. */
  readonly headers: (number: number) => OutgoingHttpHeaders;
  readonly error: (status: number, message: string, number: number) => unknown;
  readonly say: Readonly<Record<MockErrorKind, (what: string) => string>>;
}

/** The string under `key`, or `otherwise`. */
export function stringOf(body: JsonObject, key: string, otherwise: string): string {
  const value = body[key];
  return typeof value === 'string' ? value : otherwise;
}

/** Responses have this time, not the clock's, so that the same request always gets the same bytes except for its ids. */
export const MOCK_TIME_S = 1_767_225_600;
