import { verifyResponses } from '@vitrine/http-api/testing/documented-responses';
import type { PlanLimits } from '@vitrine/plans/plan-limits';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { VOCABULARY } from '@vitrine/registry/vocabulary';
import { DEFAULT_PLAN_LIMITS } from '@vitrine/stores/default-plan-limits';
import { commitDemoStore } from '@vitrine/stores/demo/demo-store';
import { createId } from '@vitrine/stores/identifiers';
import { importVocabulary } from '@vitrine/stores/import-vocabulary';
import { chargeUsage } from '@vitrine/stores/metering/charge-usage';
import type { PlanSlug } from '@vitrine/stores/resources/enumerations';
import { createLogger } from '@vitrine/telemetry/logger';
import {
  addKey,
  storeDatabase,
  TEST_PEPPER,
  tokenOf,
  type StoreDatabase,
  type TestKey,
} from '@vitrine/stores/testing/store-database';
import { URLS } from '@vitrine/stores/testing/store-states';
import { randomBytes } from 'node:crypto';
import { startStoreApi } from '../app.ts';
import { readStoreApiConfig } from '../config.ts';
import { SERVER_STATUSES } from '../contract/error-codes.ts';
import { REQUEST_ID, REQUEST_ID_HEADER } from '../contract/headers.ts';

/** A store API in this process on any free port, over its own database, with the rights of its role. */
export interface TestStoreApi extends AsyncDisposable {
  readonly url: string;
  readonly database: StoreDatabase;
  readonly log: readonly string[];
  /** Adds a key, and its workspace if missing. */
  addKey(key?: TestKey): Promise<TestApiKey>;
  /** The recorded store `example.com`, observed now. */
  addDemoStore(): Promise<void>;
  /** Sets the units of lookup_cached that a key and its workspace have consumed in this period, in counters and ledger. */
  setUsed(key: TestApiKey, units: number): Promise<void>;
  /** Changes the limits of a plan without a row. */
  limits(plan: PlanSlug, changes: Partial<PlanLimits>): PlanLimits;
  /** Sends a request; `token`: as a bearer token. */
  request(path: string, options?: TestRequest): Promise<TestResponse>;
}

export interface TestApiKey {
  readonly token: string;
  readonly key_id: string;
  readonly workspace_id: string;
}

export interface TestRequest {
  readonly method?: string;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string and bytes are sent unchanged, an object as JSON. */
  readonly body?: object | string | Uint8Array<ArrayBuffer>;
}

export interface TestResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body parsed as JSON; undefined for an empty one. */
  readonly json: Readonly<Record<string, unknown>>;
}

/** Every response below `/v1` and at `/` is compared with `/v1/openapi.json`. Disposal throws if one differs. */
const CONTRACT = {
  correlationHeader: REQUEST_ID_HEADER,
  correlationId: REQUEST_ID,
  documentPath: '/v1/openapi.json',
  covers: /^\/(v1(\/|$)|$)/,
  errorSchema: '/components/schemas/ErrorResponse',
  serverStatuses: Object.keys(SERVER_STATUSES)
    .map(Number)
    .filter((status) => status !== 405),
  undocumentedStatuses: [401, 429],
  hasOptions: false,
};

/** `variables`: such as `STORE_API_GRAPHQL_SERVICE_TOKEN`. `database`: a shared one, which is not closed with this instance. */
export async function startTestStoreApi(
  variables: Readonly<Record<string, string>> = {},
  database?: StoreDatabase,
): Promise<TestStoreApi> {
  await using opened = new AsyncDisposableStack();
  const data = database ?? opened.use(await storeDatabase());
  const log: string[] = [];
  const config = readStoreApiConfig(undefined, { ...testVariables(data), ...variables });
  const logger = createLogger('svc-store-api', config.log.level, { write: (line) => log.push(line) });
  const api = opened.use(await startStoreApi(config, logger));
  opened.use(await verifyResponses(api.url, CONTRACT));
  const running = opened.move();
  return {
    url: api.url,
    database: data,
    log,
    addKey: async (key) => {
      const n = nextKey();
      return { token: tokenOf(n), ...(await addKey(data, n, key)) };
    },
    addDemoStore: () =>
      data.owner.transaction(async (transaction) => {
        await importVocabulary(transaction, VOCABULARY);
        await commitDemoStore(transaction, URLS, Date.now(), randomBytes);
      }),
    setUsed: (key, units) => setUsed(data.owner, key, units),
    limits: (plan, changes) => ({ ...DEFAULT_PLAN_LIMITS[plan], ...changes }),
    request: (path, options) => send(api.url + path, options),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** Configuration to serve a database in the role of the store API, on any free port. */
export function testVariables(database: StoreDatabase): Record<string, string> {
  return {
    STORE_API_SERVER_HOST: '127.0.0.1',
    STORE_API_SERVER_PORT: '0',
    STORE_API_STORAGE_DSN: database.dsnOf('vitrine_store_api').reveal(),
    STORE_API_AUTH_PEPPERS: TEST_PEPPER,
    STORE_API_PUBLIC_API_URL: URLS.api_url,
    STORE_API_PUBLIC_CONSOLE_URL: URLS.console_url,
    STORE_API_PUBLIC_DOCS_URL: URLS.docs_url,
  };
}

async function setUsed(owner: PostgresPool, { workspace_id, key_id }: TestApiKey, units: number): Promise<void> {
  const charge = {
    workspace_id,
    key_id,
    operation_id: createId('op', Date.now(), randomBytes),
    period_starts_at: await periodStart(owner, workspace_id),
    allowance: undefined,
    entries: Array.from({ length: units }, (_, i) => ({ domain: `shop-${i}.com`, unit: 'lookup_cached' as const })),
  };
  await owner.transaction((transaction) => chargeUsage(transaction, charge));
}

async function periodStart(owner: PostgresPool, workspaceId: string): Promise<number> {
  const text = 'SELECT billing_period_start(anchor_day, now()) AS at FROM workspaces WHERE id = $1';
  return (await owner.query<{ at: number }>(text, [workspaceId]))[0]?.at ?? 0;
}

let keys = 0;
function nextKey(): number {
  keys += 1;
  return keys;
}

async function send(url: string, { method = 'GET', token, headers = {}, body }: TestRequest = {}): Promise<TestResponse> {
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: {
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: isJson && text !== '' ? (JSON.parse(text) as TestResponse['json']) : {},
  };
}
