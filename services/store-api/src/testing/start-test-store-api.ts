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
import { startStoreApi } from '../app.ts';
import { readStoreApiConfig } from '../config.ts';

/** A store API in this process on any free port, over a database of its own, with the rights of its role. */
export interface TestStoreApi extends AsyncDisposable {
  readonly url: string;
  readonly database: StoreDatabase;
  readonly log: readonly string[];
  /** Adds a key, and its workspace where that is missing. */
  addKey(key?: TestKey): Promise<TestApiKey>;
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
  /** A text is sent as it is, an object as JSON. */
  readonly body?: object | string;
}

export interface TestResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The text as JSON; undefined for an empty one. */
  readonly json: Readonly<Record<string, unknown>>;
}

/** `variables`: such as `STORE_API_GRAPHQL_SERVICE_TOKEN`. `database`: that of another, which is not closed with this one. */
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
  const running = opened.move();
  return {
    url: api.url,
    database: data,
    log,
    addKey: async (key) => {
      const n = nextKey();
      return { token: tokenOf(n), ...(await addKey(data, n, key)) };
    },
    request: (path, options) => send(api.url + path, options),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** What a store API needs to serve a database, as the role of its tables, on any free port. */
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
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: isJson ? (JSON.parse(text) as TestResponse['json']) : {},
  };
}
