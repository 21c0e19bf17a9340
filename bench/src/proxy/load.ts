import { JSON_BODY, PROXY_PREFIX, DIRECT_PATH, requestBytes, STREAM_BODY, STREAM_EVENTS } from './exchange.ts';
import type { LoadKind } from './proxy-plan.ts';

/** An order for the load process: `seconds` of load, or exactly `requests` of them where that is given. */
export interface LoadOrder {
  readonly port: number;
  readonly proxied: boolean;
  /** The key that the target requires of a caller. */
  readonly gatewayKey?: string;
  readonly kind: LoadKind;
  readonly connections: number;
  readonly seconds: number;
  readonly requests?: number;
}

export interface LoadResult {
  /** completed + cutByClient + cutByUpstream + errors, refused connections apart. */
  readonly sent: number;
  readonly completed: number;
  readonly cutByClient: number;
  readonly cutByUpstream: number;
  readonly errors: number;
  /** The first few, each with its reason. */
  readonly errorSamples: readonly string[];
  readonly reqPerSec: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The load process's own CPU, to show that it is not the bottleneck. */
  readonly clientCpuMicros: number;
}

/** One exchange that a connection plays: the request, the expected response, and the intended break. */
export interface Step {
  readonly request: Buffer;
  readonly body: Buffer;
  /** The client leaves once it has this many body bytes: never before the first chunk, so the mock has seen every exchange. */
  readonly leaveAt: number;
  readonly upstreamDies: boolean;
}

/** The steps that connections repeat, each starting at a different one. */
export function stepsOf(order: LoadOrder): Step[] {
  const path = order.proxied ? PROXY_PREFIX + DIRECT_PATH : DIRECT_PATH;
  const request = requestBytes(order.kind === 'json' ? 'json' : 'stream', order.port, path, order.gatewayKey);
  if (order.kind === 'json') return [{ request, body: JSON_BODY, leaveAt: Infinity, upstreamDies: false }];
  const whole = { request, body: STREAM_BODY, leaveAt: Infinity, upstreamDies: false };
  if (order.kind === 'stream') return [whole];
  const left = [1, 5, 15, 25, 40].map((events) => ({ ...whole, leaveAt: bytesOf(events) }));
  const died = { ...whole, request: requestBytes('stream-cut', order.port, path, order.gatewayKey), upstreamDies: true };
  return [...left, died, whole];
}

const bytesOf = (events: number) => STREAM_EVENTS.slice(0, events).reduce((sum, event) => sum + event.length, 0);
