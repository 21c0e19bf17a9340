import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { npmScript } from '@vitrine/testkit/npm-script';

import { forked, forkedWith, type Forked } from '../forked.ts';
import { startGateway, type GatewayOptions } from './gateway-process.ts';
import { findNginx, startNginx } from './nginx.ts';
import { DIRECT_PATH, PROXY_PREFIX } from './exchange.ts';
import { storedRows } from './kept-rows.ts';
import type { TargetName } from './proxy-plan.ts';

/** Heap flags of the gateway, for the baseline. */
const V8_FLAGS = npmScript('gateway').filter((arg) => arg.startsWith('--') && arg !== '--import');
const GATEWAY_KEY = 'sgk_bench0123456789abcdefghijklmn';
/** Every kind of limit is on, and none is ever reached. */
const THRESHOLDS = '{ requests_per_minute: 100000000, max_tokens_per_day: 1000000000000, max_cost_usd_per_day: 100000000 }';
const LIMITS = `
auth: { enabled: true, keys: [{ id: bench, token: ${GATEWAY_KEY}, org_id: bench, workspace_id: bench, role: developer }] }
limits: { per_key: ${THRESHOLDS}, per_workspace: ${THRESHOLDS} }
`;

const BODIES = { SVC_TRACING_CAPTURE_BODIES: 'true', SVC_PII_MODE: 'redact_storage' };

/** Suffix of the name of a gateway that runs from another checkout, for comparison. */
export const BEFORE = '@before';

/** The receiver of a load. */
export interface Target {
  readonly name: string;
  readonly port: number;
  /** Whether the path has the provider's prefix. */
  readonly proxied: boolean;
  readonly gatewayKey?: string;
  /** The process to measure; none for the mock itself. */
  readonly pid?: number;
  /** From the start of its process to its first response through the proxy. */
  readonly firstResponseMs?: number;
  /** Rows in the target's database, or undefined while it is still writing. */
  storedRows?(): Promise<number | undefined>;
}

/** Starts a target in front of `mock`; `stack` stops it. `checkout`: the checkout of the gateway, when it is not this one. */
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
    const spawnedAt = performance.now();
    const bare = stack.use(await forkedWith(V8_FLAGS, new URL('./bare-process.ts', import.meta.url), upstream));
    await firstResponse(bare.port, undefined);
    return { name, port: bare.port, proxied: true, pid: bare.pid, firstResponseMs: performance.now() - spawnedAt };
  }
  const home = join(dir, name);
  if (target === 'nginx') {
    const nginx = await startNginx(findNginx() ?? 'nginx', mock.port, home);
    stack.defer(() => nginx.stop());
    return { name, port: nginx.port, proxied: true, pid: nginx.pid };
  }
  await mkdir(home, { recursive: true });
  if (target === 'gateway') return startGatewayTarget(name, { home, upstream, checkout }, stack);
  if (target === 'gateway+bodies') return startGatewayTarget(name, { home, upstream, checkout, variables: BODIES }, stack);
  await writeFile(join(home, 'vitrine.yaml'), LIMITS);
  if (target === 'gateway+limits') return startGatewayTarget(name, { home, upstream, checkout }, stack, GATEWAY_KEY);
  const collector = stack.use(await forked(new URL('../telemetry/collector-process.ts', import.meta.url)));
  const variables = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}` };
  return startGatewayTarget(name, { home, upstream, checkout, variables }, stack, GATEWAY_KEY);
}

/** Starts a gateway as a target that requires `gatewayKey`, when there is one. */
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
      throw new Error(`${name} does not report its rows (${String(error)}); the end of its log:\n${await gateway.logTail()}`, {
        cause: error,
      });
    });
  const key = gatewayKey === undefined ? {} : { gatewayKey };
  await firstResponse(gateway.port, gatewayKey);
  const firstResponseMs = performance.now() - gateway.spawnedAt;
  return { name, port: gateway.port, proxied: true, ...key, pid: gateway.pid, firstResponseMs, storedRows: rows };
}

async function firstResponse(port: number, gatewayKey: string | undefined): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}${PROXY_PREFIX}${DIRECT_PATH}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(gatewayKey === undefined ? {} : { 'x-svc-gateway-key': gatewayKey }) },
    body: '{"model":"gpt-4o-mini","messages":[]}',
  });
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`the first request got ${response.status}`);
}
