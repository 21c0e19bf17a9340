import { createLogger } from '@vitrine/telemetry/logger';
import { startMockAnthropic } from '@vitrine/testkit/mock-anthropic';
import { startMockOpenai } from '@vitrine/testkit/mock-openai';
import type { MockProvider } from '@vitrine/testkit/mock-provider';
import { waitUntil } from '@vitrine/testkit/wait-until';
import type { TraceDetail, TracePage, TraceSummary } from '@vitrine/traces/trace';
import { verifyResponses } from '@vitrine/http-api/testing/documented-responses';
import { startGateway } from '../start-gateway.ts';
import { readGatewayConfig } from '../config.ts';
import { CORRELATION_HEADER } from '../telemetry/correlation-id.ts';
import type { Clocks } from '../storage/clocks.ts';
import { openTestStorage, type TestStorage } from './test-storage.ts';

/** A gateway in this process between two mock providers, on any free port, with its own storage. Every response of its admin API is compared with
 *  the OpenAPI document (see `verifyResponses`). */
export interface TestGateway extends AsyncDisposable {
  readonly url: string;
  readonly openai: MockProvider;
  readonly anthropic: MockProvider;
  readonly log: readonly string[];
  /** The folder of its files. */
  readonly folder: string;
  /** The default, unless the variables set another one. */
  readonly storage: Omit<TestStorage, keyof AsyncDisposable>;
  /** The response body of a path of the admin API. */
  get(path: string): Promise<unknown>;
  /** The traces, newest first, once there are at least `count`. */
  traces(count: number): Promise<TraceSummary[]>;
  /** The newest trace in full, once there are at least `count`. */
  newest(count: number): Promise<TraceDetail>;
}

/** `variables` are the gateway's environment variables beyond upstreams and storage; `text` is a YAML file; `clocks` are those of
 *  limits, queue, keys and deadlines. */
export async function startTestGateway(
  variables: Readonly<Record<string, string>> = {},
  text = '',
  clocks?: Clocks,
): Promise<TestGateway> {
  await using opened = new AsyncDisposableStack();
  const storage = opened.use(await openTestStorage());
  const openai = opened.use(await startMockOpenai());
  const anthropic = opened.use(await startMockAnthropic());
  const env = {
    SVC_SERVER_HOST: '127.0.0.1',
    SVC_SERVER_PORT: '0',
    ...storage.variables,
    SVC_PROVIDERS_OPENAI_UPSTREAM: openai.url,
    SVC_PROVIDERS_ANTHROPIC_UPSTREAM: anthropic.url,
    ...variables,
  };
  const log: string[] = [];
  const config = readGatewayConfig({ path: 'vitrine.yaml', text }, env);
  const logger = createLogger('svc-gateway', config.log.level, { write: (line) => log.push(line) });
  const { url } = opened.use(await startGateway(config, logger, { clocks }));
  opened.use(await verifyResponses(url, CORRELATION_HEADER));
  const get = async (path: string): Promise<unknown> => (await fetch(url + path)).json();
  const traces = (count: number) =>
    waitUntil(
      async () => {
        const { items } = (await get('/api/traces?limit=200')) as TracePage;
        return items.length >= count && items;
      },
      { what: `${count} traces` },
    );
  const newest = async (count: number) => {
    const [summary] = await traces(count);
    return (await get(`/api/traces/${summary?.id}`)) as TraceDetail;
  };
  const running = opened.move();
  return {
    url,
    openai,
    anthropic,
    log,
    folder: storage.folder,
    storage,
    get,
    traces,
    newest,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
