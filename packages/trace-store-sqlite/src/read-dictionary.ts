import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { ExchangeScope, Tenant } from '@vitrine/traces/exchange-scope';

/** Texts remembered of each kind; beyond that all are forgotten and read again. */
const REMEMBERED_MAX = 65_536;

type Row = Record<string, SQLInputValue | undefined>;

/** What the numbers of a file's dictionaries mean. */
export class ReadDictionary {
  /** Whose traces a scope's are. */
  readonly scope: (scope: number) => ExchangeScope & { readonly tenant: number };
  readonly model: (model: number) => { readonly provider: string; readonly name: string };
  /** SHA-256 in hex; '' for exchanges without a credential. */
  readonly credential: (credential: number) => string;
  readonly #target: (target: number) => { readonly method: string; readonly path: string };
  readonly #all: (sql: string, ...values: SQLInputValue[]) => number[];

  constructor(database: DatabaseSync) {
    const remembered = <T>(sql: string, read: (row: Row) => T) => {
      const statement = database.prepare(sql);
      const known = new Map<number, T>();
      return (number: number): T => {
        const found = known.get(number);
        if (found !== undefined) return found;
        const made = read(statement.get(number) ?? {});
        if (known.size >= REMEMBERED_MAX) known.clear();
        known.set(number, made);
        return made;
      };
    };
    this.scope = remembered('SELECT * FROM scopes JOIN tenants USING (tenant) WHERE scope = ?', (row) => ({
      tenant: Number(row['tenant'] ?? 0),
      org_id: textOf(row['org_id']),
      workspace_id: textOf(row['workspace_id']),
      gateway_key_id: textOf(row['gateway_key_id']),
      role: textOf(row['role']),
    }));
    this.model = remembered('SELECT * FROM models WHERE model = ?', (row) => ({
      provider: textOf(row['provider']),
      name: textOf(row['name']),
    }));
    this.credential = remembered('SELECT * FROM credentials WHERE credential = ?', ({ api_key_hash: hash }) =>
      hash instanceof Uint8Array ? Buffer.from(hash).toString('hex') : '',
    );
    this.#target = remembered('SELECT * FROM targets WHERE target = ?', (row) => ({
      method: textOf(row['request_method']),
      path: textOf(row['request_path']),
    }));
    this.#all = (sql, ...values) =>
      database
        .prepare(sql)
        .all(...values)
        .map(({ n }) => Number(n));
  }

  target(target: SQLInputValue | undefined): { readonly method: string; readonly path: string } {
    if (typeof target !== 'string') return this.#target(Number(target));
    const space = target.indexOf(' ');
    return { method: target.slice(0, space), path: target.slice(space + 1) };
  }

  /** The tenant's number; undefined when nothing was ever written for it. */
  tenant({ org_id, workspace_id }: Tenant): number | undefined {
    return this.#all('SELECT tenant AS n FROM tenants WHERE org_id = ? AND workspace_id = ?', org_id, workspace_id)[0];
  }

  tenants(): number[] {
    return this.#all('SELECT tenant AS n FROM tenants');
  }

  scopesOf(tenant: number): number[] {
    return this.#all('SELECT scope AS n FROM scopes WHERE tenant = ?', tenant);
  }

  /** The numbers of a provider's model, of all models of a name, or of all of a provider. */
  models(provider: string | undefined, name: string | undefined): number[] {
    return this.#all(
      'SELECT model AS n FROM models WHERE (?1 IS NULL OR provider = ?1) AND (?2 IS NULL OR name = ?2)',
      provider ?? null,
      name ?? null,
    );
  }

  credentials(hash: string): number[] {
    if (!/^[0-9a-f]{64}$/.test(hash)) return [];
    return this.#all('SELECT credential AS n FROM credentials WHERE api_key_hash = ?', Buffer.from(hash, 'hex'));
  }
}

function textOf(value: SQLInputValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
