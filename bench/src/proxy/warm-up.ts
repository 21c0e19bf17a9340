import type { Extent } from './measure.ts';
import type { LoadKind, ProxyCase } from './proxy-plan.ts';

/** A stream runs through as many chunks as so many JSON responses. */
const RESPONSES_OF_A_STREAM = 25;
const CONNECTIONS = 32;

export interface WarmUp {
  readonly item: ProxyCase;
  readonly extent: Extent;
}

/** The loads that a process gets before it is measured, one of each kind that is. A gateway runs for days, so its first minute under load is not
 *  representative. */
export function warmUps(cases: readonly ProxyCase[], requests: number): WarmUp[] {
  const kinds = new Set<LoadKind>(cases.map(({ kind }) => (kind === 'json' ? 'json' : 'stream')));
  if (requests === 0) return [];
  return [...kinds].map((kind) => ({
    item: { name: 'warm-up', kind, connections: CONNECTIONS },
    extent: { round: 0, seconds: 0, requests: Math.ceil(requests / (kind === 'json' ? 1 : RESPONSES_OF_A_STREAM)) },
  }));
}
