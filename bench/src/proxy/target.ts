import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { forked, type Forked } from '../forked.ts';
import { startGateway, type GatewayOptions } from './gateway-process.ts';
import { storedRows } from './kept-rows.ts';
import type { TargetName } from './proxy-plan.ts';

const GATEWAY_KEY = 'sgk_bench0123456789abcdefghijklmn';
/** Every kind of limit is on, and none is ever reached. */
const THRESHOLDS = '{ requests_per_minute: 100000000, max_tokens_per_day: 1000000000000, max_cost_usd_per_day: 100000000 }';
const LIMITS = `
auth: { enabled: true, keys: [{ id: bench, token: ${GATEWAY_KEY}, org_id: bench, workspace_id: bench, role: developer }] }
limits: { per_key: ${THRESHOLDS}, per_workspace: ${THRESHOLDS} }
`;

const BODIES = { SVC_TRACING_CAPTURE_BODIES: 'true', SVC_PII_MODE: 'redact_storage' };

/** Behind the name of a gateway that is run from another checkout, to be compared with. */
export const BEFORE = '@before';

/** What a load is sent to. */
export interface Target {
  readonly name: string;
  readonly port: number;
  /** Whether the provider's prefix stands before the path. */
  readonly proxied: boolean;
  readonly gatewayKey?: string;
  /** The process whose cost is measured; none for the mock itself. */
  readonly pid?: number;
  /** Rows in the target's database, or undefined while it is still writing. */
  storedRows?(): Promise<number | undefined>;
}

/** Starts a target in front of `mock`; `stack` stops it. `checkout`: whose gateway it is, when it is not this checkout's. */
export async function startTarget(
  target: TargetName,
  mock: Forked,
  dir: string,
  stack: AsyncDisposableStack,
  checkout?: URL,
): Promise<Target> {
  const name = checkout === undefined ? target : `${target}${BEFORE}`;
  if (target === 'direct') return { name, port: mock.port, proxied: false };
  const upstream = `http://127.0.0.1:${mock.port}`;
  if (target === 'bare') {
    const bare = stack.use(await forked(new URL('./bare-process.ts', import.meta.url), upstream));
    return { name, port: bare.port, proxied: true, pid: bare.pid };
  }
  const home = join(dir, name);
  await mkdir(home, { recursive: true });
  if (target === 'gateway') return startGatewayTarget(name, { home, upstream, checkout }, stack);
  if (target === 'gateway+bodies') return startGatewayTarget(name, { home, upstream, checkout, variables: BODIES }, stack);
  await writeFile(join(home, 'vitrine.yaml'), LIMITS);
  return startGatewayTarget(name, { home, upstream, checkout }, stack, GATEWAY_KEY);
}

/** Starts a gateway as a target that asks for `gatewayKey`, when there is one. */
export async function startGatewayTarget(
  name: string,
  options: GatewayOptions,
  stack: AsyncDisposableStack,
  gatewayKey?: string,
): Promise<Target> {
  const gateway = await startGateway(options);
  stack.defer(() => gateway.stop());
  const rows = () =>
    storedRows(gateway.port, gatewayKey).catch(async (error: unknown) => {
      throw new Error(`${name} does not tell its rows (${String(error)}); the end of its log:\n${await gateway.lastWords()}`, {
        cause: error,
      });
    });
  const key = gatewayKey === undefined ? {} : { gatewayKey };
  return { name, port: gateway.port, proxied: true, ...key, pid: gateway.pid, storedRows: rows };
}
