import { setTimeout as sleep } from 'node:timers/promises';

/** Rows in a gateway's embedded database (where `trace_count` is exact), or undefined while traces wait in its queue. */
export async function storedRows(port: number, gatewayKey?: string): Promise<number | undefined> {
  const depth = numberAt(await get(port, '/api/diagnostics/trace-pipeline', gatewayKey), 'diagnostics', 'queue_depth');
  return depth === 0 ? numberAt(await get(port, '/api/health'), 'trace_count') : undefined;
}

const PATIENCE_MS = 20_000;

/** Waits, at most 20 s, until a gateway has `expected` rows and stays there; returns the rows it has then. */
export async function settledRows(read: () => Promise<number | undefined>, expected: number): Promise<number> {
  let last = Number.NaN;
  let seen: number | undefined;
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await sleep(100)) {
    last = seen ?? last;
    seen = await read();
    if (seen === expected && last === expected) return seen;
  }
  return seen ?? last;
}

async function get(port: number, path: string, gatewayKey?: string): Promise<unknown> {
  const headers: Record<string, string> = gatewayKey === undefined ? {} : { 'x-svc-gateway-key': gatewayKey };
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
  if (response.status !== 200) throw new Error(`GET ${path} of the gateway: status ${response.status}: ${await response.text()}`);
  return response.json();
}

function numberAt(value: unknown, ...path: string[]): number {
  let at = value;
  for (const key of path) at = (at as Record<string, unknown> | null)?.[key];
  if (typeof at !== 'number') throw new Error(`the gateway's response has no number at ${path.join('.')}`);
  return at;
}
