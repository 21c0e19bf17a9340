import type { Forked } from '../forked.ts';
import { settledRows } from './kept-rows.ts';
import type { LoadOrder, LoadResult } from './load.ts';
import { cpuMicrosOf, sampleRss } from './process-cost.ts';
import type { ProxyCase } from './proxy-plan.ts';
import type { Target } from './target.ts';

/** One load on one target and what it cost. */
export interface Measure {
  readonly case: string;
  readonly target: Target['name'];
  readonly round: number;
  readonly load: LoadResult;
  /** Exchanges that the mock saw during this load. */
  readonly mock: number;
  /** Rows that the gateway stored for this load; only of gateways. */
  readonly rows?: number;
  /** Of the proxy process, until its last row was stored. */
  readonly cpuMicros?: number;
  readonly rssMib: readonly number[];
}

export interface Helpers {
  readonly mock: Forked;
  readonly loader: Forked;
}

export interface Extent {
  /** 0 is the warm-up. */
  readonly round: number;
  readonly seconds: number;
  readonly requests?: number;
  readonly rssEveryMs?: number;
}

/** Runs one load against one target, and waits until a gateway has stored every exchange. */
export async function measure(helpers: Helpers, target: Target, item: ProxyCase, extent: Extent): Promise<Measure> {
  const { mock, loader } = helpers;
  const mockBefore = (await mock.call({})) as number;
  const rowsBefore = await target.storedRows?.();
  const cpuBefore = target.pid === undefined ? undefined : cpuMicrosOf(target.pid);
  using rss = sampleRss(target.pid ?? 0, extent.rssEveryMs ?? 200);
  const order: LoadOrder = {
    port: target.port,
    proxied: target.proxied,
    kind: item.kind,
    connections: item.connections,
    seconds: extent.seconds,
    ...(target.gatewayKey === undefined ? {} : { gatewayKey: target.gatewayKey }),
    ...(extent.requests === undefined ? {} : { requests: extent.requests }),
  };
  const load = (await loader.call(order)) as LoadResult;
  const rssMib = rss.stop();
  const seen = ((await mock.call({})) as number) - mockBefore;
  const rows = await newRows(target, rowsBefore, seen);
  const cpuAfter = target.pid === undefined ? undefined : cpuMicrosOf(target.pid);
  return {
    case: item.name,
    target: target.name,
    round: extent.round,
    load,
    mock: seen,
    rssMib,
    ...(rows === undefined ? {} : { rows }),
    ...(cpuBefore === undefined || cpuAfter === undefined ? {} : { cpuMicros: cpuAfter - cpuBefore }),
  };
}

async function newRows(target: Target, before: number | undefined, seen: number): Promise<number | undefined> {
  if (target.storedRows === undefined) return undefined;
  // Undefined only when the previous load did not settle, which is then already reported.
  const base = before ?? 0;
  return (await settledRows(() => target.storedRows?.() ?? Promise.resolve(undefined), base + seen)) - base;
}

/** The promises violated by a load, one line each. */
export function brokenBy({ case: name, target, round, load, mock, rows }: Measure): string[] {
  const where = `${name}, ${target}, ${round === 0 ? 'warm-up' : `round ${round}`}`;
  const broken: string[] = [];
  if (load.errors > 0) broken.push(`${where}: ${load.errors} errors (${load.errorSamples.join('; ')})`);
  if (load.sent !== mock) broken.push(`${where}: the client sent ${load.sent} requests, the mock saw ${mock}`);
  if (rows !== undefined && rows !== mock) broken.push(`${where}: ${rows} rows stored, the mock saw ${mock} exchanges`);
  return broken;
}

/** One line of progress. */
export function progressOf({ case: name, target, round, load, mock, rows, cpuMicros, rssMib }: Measure): string {
  const cuts = load.cutByClient + load.cutByUpstream;
  const parts = [
    `${name.padEnd(9)}${target.padEnd(15)}${(round === 0 ? 'warm-up' : `round ${round}`).padEnd(8)}`,
    `${load.reqPerSec.toFixed(0).padStart(6)} req/s`,
    `p50 ${load.p50Ms.toFixed(2)} p99 ${load.p99Ms.toFixed(2)} ms`,
    ...(cpuMicros === undefined ? [] : [`cpu ${(cpuMicros / load.sent).toFixed(1)} µs`]),
    ...(rssMib.length === 0 ? [] : [`rss ${Math.max(...rssMib).toFixed(0)} MiB`]),
    `client ${load.clientCpuMicros.toFixed(1)} µs`,
    ...(cuts === 0 ? [] : [`cut by client ${load.cutByClient}, by mock ${load.cutByUpstream}`]),
    ...(rows === undefined ? [] : [`rows ${rows} mock ${mock}`]),
    ...(load.errors === 0 ? [] : [`ERRORS ${load.errors}: ${load.errorSamples.join('; ')}`]),
  ];
  return parts.join('  ');
}
