import { Secret } from '@vitrine/config/secret';
import { createLogger } from '@vitrine/telemetry/logger';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startOperator, type Operator } from '../app.ts';
import { readOperatorConfig } from '../config.ts';
import type { FakeApiServer } from './fake-api-server.ts';

/** The namespace of every operator in tests. */
export const PEPPER = `1:${'p'.repeat(40)}`;
/** Long, because an operator ends if a busy machine delays the renewal of its Lease. A request for it times out after `retryMs`. */
const TIMES = { leaseMs: 60_000, renewMs: 50_000, retryMs: 1_000 };

/** An operator in this process, on any free port. */
export interface TestOperator extends AsyncDisposable {
  readonly url: string;
  readonly lost: Operator['lost'];
  readonly log: readonly string[];
  /** Status and body of a response. */
  get(path: string): Promise<readonly [number, Readonly<Record<string, unknown>>]>;
  metrics(): Promise<string>;
}

/** `dsn`: with the rights of any user; it acts as the role of an operator. */
export async function startTestOperator(
  fake: FakeApiServer,
  dsn: Secret,
  variables: Readonly<Record<string, string>> = {},
): Promise<TestOperator> {
  const folder = mkdtempSync(join(tmpdir(), 'vitrine-operator-'));
  const pepperPath = join(folder, 'gateway-keys.pepper');
  writeFileSync(pepperPath, `${PEPPER}\n`);
  const log: string[] = [];
  const config = readOperatorConfig(undefined, {
    OPERATOR_SERVER_HOST: '127.0.0.1',
    OPERATOR_SERVER_PORT: '0',
    OPERATOR_NAMESPACE: 'vitrine',
    OPERATOR_STORAGE_DSN: asOperator(dsn).reveal(),
    OPERATOR_AUTH_PEPPER_PATH: pepperPath,
    ...variables,
  });
  const logger = createLogger('svc-operator', config.log.level, { write: (line) => log.push(line) });
  const operator = await startOperator({ config, kubeConfig: fake.config, logger, electionTimes: TIMES, propagationMs: 0 });
  const { url, lost } = operator;
  return {
    url,
    lost,
    log,
    get: async (path) => {
      const response = await fetch(url + path);
      return [response.status, (await response.json()) as Readonly<Record<string, unknown>>];
    },
    metrics: async () => (await fetch(`${url}/metrics`)).text(),
    async [Symbol.asyncDispose]() {
      await operator[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** With the rights of an operator, for any user. */
export function asOperator(dsn: Secret): Secret {
  const url = new URL(dsn.reveal());
  url.searchParams.set('options', '-c role=vitrine_operator');
  return new Secret(url.href);
}
