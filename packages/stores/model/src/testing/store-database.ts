import { Secret } from '@vitrine/config/secret';
import { TokenHashes } from '@vitrine/credentials/token-hashes';
import type { PostgresPoolOptions } from '@vitrine/postgres/pool-options';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { templateDatabase } from '@vitrine/testkit/template-database';
import type { PlanSlug } from '../resources/enumerations.ts';
import { idOf } from './store-states.ts';

export type Role = 'vitrine_store_api' | 'vitrine_enrich';

/** A database with the tables of stores, with access as its owner and as services. */
export interface StoreDatabase extends AsyncDisposable {
  readonly owner: PostgresPool;
  /** A pool with the rights of a service. Each one acts as a separate replica. */
  as(role: Role, options?: Partial<PostgresPoolOptions>): PostgresPool;
  /** The same DSN for a service that opens its own pool. */
  dsnOf(role: Role): Secret;
}

export async function storeDatabase(): Promise<StoreDatabase> {
  const stack = new AsyncDisposableStack();
  const database = stack.use(await templateDatabase());
  const dsnWith = (options: string) => {
    const url = new URL(database.dsn.reveal());
    url.searchParams.set('options', options);
    return new Secret(url.href);
  };
  const open = (options: string, others: Partial<PostgresPoolOptions> = {}) =>
    stack.use(new PostgresPool({ dsn: dsnWith(options), applicationName: 'test', maxConnections: 8, ...others }));
  return {
    owner: open(''),
    as: (role, options) => open(`-c role=${role}`, options),
    dsnOf: (role) => dsnWith(`-c role=${role}`),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

const SECRET = 'a-pepper-of-thirty-two-characters';
/** The pepper of the keys, in the form of the configuration. */
export const TEST_PEPPER: string = `1:${SECRET}`;
const HASHES = new TokenHashes([{ version: 1, secret: new Secret(SECRET) }]);
export const tokenOf = (n: number): string => `svc_live_${'k'.repeat(40)}${n}`;
export const hashesOf = (n: number) => HASHES.all(tokenOf(n));

export interface TestKey {
  readonly plan?: PlanSlug;
  readonly scopes?: readonly string[];
  readonly workspace?: number;
}

/** Adds the n-th key, and its workspace if missing. Resolves with their ids. */
export async function addKey(
  database: StoreDatabase,
  n: number,
  { plan = 'pro', scopes = ['read:stores'], workspace = n }: TestKey = {},
) {
  const [key_id, workspace_id] = [idOf('key', n), idOf('ws', workspace)];
  const addWorkspace = `INSERT INTO workspaces VALUES ($1, $2, $3, 5, 'org', 'ws', now()) ON CONFLICT DO NOTHING`;
  await database.owner.execute(addWorkspace, [workspace_id, `workspace ${workspace}`, plan]);
  const [hash] = hashesOf(n);
  await database.owner.execute(
    `INSERT INTO api_keys VALUES ($1, $2, $3, 'svc_live_kkkk', 'live', $4, $5, $6, NULL, now(), NULL, NULL)`,
    [key_id, workspace_id, `key ${n}`, scopes, hash?.pepper_version, hash?.token_mac],
  );
  return { key_id, workspace_id };
}
