/** An order for the load process. */
export interface StoreLoadOrder {
  readonly port: number;
  readonly kind: 'get' | 'enrich';
  /** Requests in flight, each on a connection of its own. */
  readonly connections: number;
  readonly seconds: number;
  /** Keys in turn; 1: one hot key. */
  readonly keys: number;
  readonly stores: number;
}

export interface StoreLoadResult {
  readonly completed: number;
  /** Responses other than 200, and connections that broke; the first few, each with its reason. */
  readonly errors: number;
  readonly errorSamples: readonly string[];
  readonly reqPerSec: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly bytes: number;
  /** The load process's own CPU for each request, to show that it is not the bottleneck. */
  readonly clientCpuMicros: number;
}

/** An order for the crowd process. */
export interface CrowdOrder {
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
  /** Keys in turn, each a lookup; undefined: a new unknown key for each request. */
  readonly keys?: readonly number[];
  readonly stores: number;
}

export interface CrowdResult {
  /** Responses by status, and connections that broke. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly reqPerSec: number;
}
