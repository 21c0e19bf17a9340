import { invariant } from '@vitrine/faults/invariant';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { ExchangeScope } from '@vitrine/traces/exchange-scope';

/** Remembered numbers of each kind; beyond that all are forgotten and looked up again. */
const REMEMBERED_MAX = 4_096;
/** The first methods and paths that come get numbers. What comes later (paths with ids, or made up to fill the table) stands in its row. */
const TARGETS_MAX = 1_024;
const NO_CREDENTIAL = new Uint8Array(0);

/** The numbers under which a file keeps texts that many traces share; a text that is new gets one. */
export class TraceDictionary {
  /** By object: there is one a key. */
  readonly #scopes: Numbers<ExchangeScope>;
  readonly #scopesByNumber = new Map<number, ExchangeScope>();
  readonly #models = new Map<string, Numbers<string>>();
  /** By object: the hash of a credential is the same object while it is remembered (`credential-hashes.ts`). */
  readonly #credentials: Numbers<Uint8Array>;
  readonly #targets = new Map<string, Map<string, number>>();
  #lastTarget = { method: '', path: '', target: 0 };
  readonly #readTargets: StatementSync;
  readonly #addTarget: StatementSync;
  readonly #scopeRow: StatementSync;
  readonly #newModels: (provider: string) => Numbers<string>;
  #targetCount = 0;
  #hasTargets = false;

  constructor(database: DatabaseSync) {
    const numberer = (find: string, add: string) => {
      const [finding, adding] = [database.prepare(find), database.prepare(add)];
      return (...values: (string | number | Uint8Array)[]) =>
        Number(finding.get(...values)?.['n'] ?? adding.run(...values).lastInsertRowid);
    };
    const tenant = numberer(
      'SELECT tenant AS n FROM tenants WHERE org_id = ? AND workspace_id = ?',
      'INSERT INTO tenants (org_id, workspace_id) VALUES (?, ?)',
    );
    const scope = numberer(
      'SELECT scope AS n FROM scopes WHERE tenant = ? AND gateway_key_id = ? AND role = ?',
      'INSERT INTO scopes (tenant, gateway_key_id, role) VALUES (?, ?, ?)',
    );
    const model = numberer(
      'SELECT model AS n FROM models WHERE provider = ? AND name = ?',
      'INSERT INTO models (provider, name, used_day) VALUES (?, ?, 0)',
    );
    const credential = numberer(
      'SELECT credential AS n FROM credentials WHERE api_key_hash = ?',
      'INSERT INTO credentials (api_key_hash, used_day) VALUES (?, 0)',
    );
    this.#scopes = new Numbers(({ org_id, workspace_id, gateway_key_id, role }) =>
      scope(tenant(org_id, workspace_id), gateway_key_id, role),
    );
    this.#newModels = (provider) => new Numbers((name) => model(provider, name));
    this.#credentials = new Numbers((hash) => credential(hash));
    this.#readTargets = database.prepare('SELECT * FROM targets');
    this.#addTarget = database.prepare('INSERT INTO targets (request_method, request_path) VALUES (?, ?)');
    this.#scopeRow = database.prepare('SELECT * FROM scopes JOIN tenants USING (tenant) WHERE scope = ?');
  }

  scope(scope: ExchangeScope): number {
    return this.#scopes.of(scope);
  }

  tenantOf(scope: number): number {
    return Number(this.#scopeRow.get(scope)?.['tenant']);
  }

  /** The scope that has a number; the same object while it is remembered. */
  scopeOf(number: number): ExchangeScope {
    const known = this.#scopesByNumber.get(number);
    if (known !== undefined) return known;
    const row = this.#scopeRow.get(number) as ExchangeScope | undefined;
    invariant(row !== undefined, 'the number of a scope has its row');
    const { org_id, workspace_id, gateway_key_id, role } = row;
    const scope = { org_id, workspace_id, gateway_key_id, role };
    if (this.#scopesByNumber.size >= REMEMBERED_MAX) this.#scopesByNumber.clear();
    this.#scopesByNumber.set(number, scope);
    return scope;
  }

  model(provider: string, name: string): number {
    const ofProvider = this.#models.get(provider) ?? this.#newModels(provider);
    this.#models.set(provider, ofProvider);
    return ofProvider.of(name);
  }

  credential(hash: Uint8Array | undefined): number {
    return this.#credentials.of(hash ?? NO_CREDENTIAL);
  }

  /** The number of a method and a path, or both as one text. */
  target(method: string, path: string): number | string {
    if (path === this.#lastTarget.path && method === this.#lastTarget.method) return this.#lastTarget.target;
    if (!this.#hasTargets) this.#loadTargets();
    const known = this.#targets.get(method)?.get(path);
    if (known !== undefined) this.#lastTarget = { method, path, target: known };
    if (known !== undefined) return known;
    if (this.#targetCount >= TARGETS_MAX) return `${method} ${path}`;
    const made = Number(this.#addTarget.run(method, path).lastInsertRowid);
    this.#rememberTarget(method, path, made);
    return made;
  }

  /** To be called when what was added was rolled back, or when rows were removed. */
  forget(): void {
    this.#scopes.clear();
    this.#scopesByNumber.clear();
    this.#models.clear();
    this.#credentials.clear();
    this.#hasTargets = false;
    this.#lastTarget = { method: '', path: '', target: 0 };
  }

  /** Not by `forget`: that follows a failure, and must not fail itself. */
  #loadTargets(): void {
    this.#targets.clear();
    this.#targetCount = 0;
    for (const { request_method, request_path, target } of this.#readTargets.all())
      this.#rememberTarget(request_method as string, request_path as string, Number(target));
    this.#hasTargets = true;
  }

  #rememberTarget(method: string, path: string, target: number): void {
    const ofMethod = this.#targets.get(method) ?? new Map<string, number>();
    this.#targets.set(method, ofMethod.set(path, target));
    this.#targetCount += 1;
  }
}

/** Numbers that were looked up. */
class Numbers<T> {
  readonly #known = new Map<T, number>();
  readonly #find: (key: T) => number;
  #lastKey: T | undefined;
  #last = 0;

  constructor(find: (key: T) => number) {
    this.#find = find;
  }

  of(key: T): number {
    // Much traffic is of one kind, and comparing a new text costs less than hashing it.
    if (key === this.#lastKey) return this.#last;
    const number = this.#known.get(key) ?? this.#lookUp(key);
    this.#lastKey = key;
    this.#last = number;
    return number;
  }

  clear(): void {
    this.#known.clear();
    this.#lastKey = undefined;
  }

  #lookUp(key: T): number {
    const found = this.#find(key);
    if (this.#known.size >= REMEMBERED_MAX) this.#known.clear();
    this.#known.set(key, found);
    return found;
  }
}
