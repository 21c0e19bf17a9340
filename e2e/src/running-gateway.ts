import { npmScript } from '@vitrine/testkit/npm-script';
import { join } from 'node:path';
import { freePort, startProcess, type RunningProcess } from './running-process.ts';

/** How `npm run gateway` starts the gateway and `npm start` everything, without npm around it. */
export const GATEWAY = npmScript('gateway');
export const STANDALONE = npmScript('start');

export interface GatewayOptions {
  /** Where its database is kept; also its working folder, so that no vitrine.yaml of the checkout is read. */
  readonly folder: string;
  /** Both providers. */
  readonly upstream: string;
  readonly variables?: Readonly<Record<string, string>>;
  /** Any free one by default. */
  readonly port?: number;
  /** A gateway key that may read everything, where keys are required. */
  readonly gatewayKey?: string;
  /** Words before the command, such as a shell that sets limits and then execs. */
  readonly under?: readonly [string, ...string[]];
}

/** The response of GET /api/health. */
export interface Health {
  readonly status: string;
  readonly reasons?: readonly string[];
  readonly trace_count: number;
}

/** The fields that this suite reads of GET /api/diagnostics/trace-pipeline. */
export interface Diagnostics {
  readonly queue_capacity: number;
  readonly queue_depth: number;
  readonly enqueue_accepted_total: number;
  readonly enqueue_dropped_total: number;
  readonly write_dropped_total: number;
  readonly total_dropped_total: number;
  readonly written_total: number;
  readonly write_failures_by_class?: Readonly<Record<string, number>>;
}

export interface TraceItem {
  readonly id: string;
  readonly model: string;
  readonly request_path: string;
  readonly outcome: string;
  readonly response_status: number;
}

/** A healthy gateway in a separate process. */
export interface RunningGateway extends AsyncDisposable {
  readonly process: RunningProcess;
  readonly port: number;
  readonly url: string;
  readonly databasePath: string;
  get<T>(path: string): Promise<T>;
  health(): Promise<Health>;
  diagnostics(): Promise<Diagnostics>;
  /** Every trace, newest first, page by page. */
  traces(): Promise<TraceItem[]>;
}

export async function startGateway(options: GatewayOptions): Promise<RunningGateway> {
  const { folder, upstream, variables = {}, gatewayKey, under } = options;
  const port = options.port ?? (await freePort());
  const databasePath = join(folder, 'traces.db');
  const running = startProcess({
    command: under === undefined ? GATEWAY : [...under, ...GATEWAY],
    cwd: folder,
    env: {
      SVC_SERVER_HOST: '127.0.0.1',
      SVC_SERVER_PORT: String(port),
      SVC_STORAGE_PATH: databasePath,
      SVC_PROVIDERS_OPENAI_UPSTREAM: upstream,
      SVC_PROVIDERS_ANTHROPIC_UPSTREAM: upstream,
      ...variables,
    },
  });
  const url = `http://127.0.0.1:${port}`;
  try {
    await running.untilServing(`${url}/api/health`);
  } catch (error) {
    await running[Symbol.asyncDispose]();
    throw error;
  }
  const get = <T>(path: string) => getJson<T>(url + path, gatewayKey);
  return {
    process: running,
    port,
    url,
    databasePath,
    get,
    health: () => get<Health>('/api/health'),
    diagnostics: async () => (await get<{ diagnostics: Diagnostics }>('/api/diagnostics/trace-pipeline')).diagnostics,
    traces: () => allTraces(url),
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}

async function allTraces(url: string): Promise<TraceItem[]> {
  const all: TraceItem[] = [];
  for (let cursor = ''; ;) {
    const page = await getJson<{ items: TraceItem[]; next_cursor?: string }>(`${url}/api/traces?limit=200${cursor}`);
    all.push(...page.items);
    if (page.next_cursor === undefined) return all;
    cursor = `&cursor=${page.next_cursor}`;
  }
}

async function getJson<T>(url: string, gatewayKey?: string): Promise<T> {
  const response = await fetch(url, { headers: gatewayKey === undefined ? {} : { 'x-svc-gateway-key': gatewayKey } });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url}: status ${response.status}: ${text}`);
  return JSON.parse(text) as T;
}
