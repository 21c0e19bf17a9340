import { Secret } from '@vitrine/config/secret';
import { TokenHashes } from '@vitrine/credentials/token-hashes';
import { codeOf } from '@vitrine/faults/fault';
import type { ManagedKey, ManagedKeyRows } from '@vitrine/gateway-keys/managed-key';
import { PostgresManagedKeys } from '@vitrine/gateway-keys/postgres/postgres-managed-keys';
import { hasPlanRow } from '@vitrine/plans/plan-rows';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { createLogger } from '@vitrine/telemetry/logger';
import { randomBytes, randomUUID } from 'node:crypto';
import { type ClientSettings, isHashOf, tokenIn } from '../gateway-key/key-secret.ts';
import { keyIdOf } from '../gateway-key/read-spec.ts';
import type { SecretObject } from '../gateway-key/observed-key.ts';
import type { GatewayKeyObject } from '../gateway-key/gateway-key-resource.ts';
import { GatewayKeyReconciler } from '../gateway-key/gateway-key-reconciler.ts';
import { KubernetesClient } from '../runtime/kubernetes-client.ts';
import { readConditions, type Condition } from '../runtime/conditions.ts';
import { EventRecorder } from '../runtime/event-recorder.ts';
import { startFakeApiServer, type FakeApiServer } from './fake-api-server.ts';
import type { StoredObject } from './fake-writes.ts';

export const HASHES: TokenHashes = new TokenHashes([{ version: 1, secret: new Secret('p'.repeat(40)) }]);
export const CLIENTS: ClientSettings = {
  openai_base_url: 'http://gateway/openai/v1',
  anthropic_base_url: 'http://gateway/anthropic',
  key_header: 'X-Svc-Gateway-Key',
};
const NEVER = new AbortController().signal;
const MAX_PASSES = 30;

/** One GatewayKey, its namespace and Secret on a fake API server, and its row. Passes run without caches, queue and watches. */
export class KeyFixture implements AsyncDisposable {
  readonly fake: FakeApiServer;
  readonly server: KubernetesClient;
  readonly rows: ManagedKeyRows;
  readonly name: string;
  /** For the clock of the reconcilers. */
  now: number = Date.now();
  propagationMs = 0;
  readonly log: string[] = [];
  clients: ClientSettings = CLIENTS;
  readonly #pool: PostgresPool;
  #reconciler: GatewayKeyReconciler | undefined;

  private constructor(fake: FakeApiServer, pool: PostgresPool) {
    this.fake = fake;
    this.server = new KubernetesClient(fake.config, 'test');
    this.#pool = pool;
    this.rows = new PostgresManagedKeys(pool);
    this.name = `key-${randomUUID().slice(0, 8)}`;
  }

  static async open(pool: PostgresPool, namespace: StoredObject['metadata'] = {}): Promise<KeyFixture> {
    const world = new KeyFixture(await startFakeApiServer(), pool);
    const labels = { 'vitrine.dev/org': 'acme', 'vitrine.dev/workspace': 'search' };
    world.fake.put('/api/v1/namespaces/team-a', { metadata: { labels, ...namespace } });
    return world;
  }

  get path(): string {
    return `/apis/vitrine.dev/v1alpha1/namespaces/team-a/gatewaykeys/${this.name}`;
  }

  get secretPath(): string {
    return `/api/v1/namespaces/team-a/secrets/${this.name}-gateway-key`;
  }

  get object(): GatewayKeyObject | undefined {
    return this.fake.read(this.path) as GatewayKeyObject | undefined;
  }

  get secret(): SecretObject | undefined {
    return this.fake.read(this.secretPath) as SecretObject | undefined;
  }

  get token(): string | undefined {
    return this.secret && tokenIn(this.secret, 'token');
  }

  condition(type: string): Condition | undefined {
    return readConditions(this.object?.status).find((condition) => condition.type === type);
  }

  /** `True Registered` */
  get ready(): string {
    const { status, reason } = this.condition('Ready') ?? {};
    return `${status} ${reason}`;
  }

  /** The reason of the condition; undefined without one. */
  get reconciling(): string | undefined {
    return this.condition('Reconciling')?.reason;
  }

  /** Reasons of the events so far. */
  get events(): string[] {
    return this.fake
      .paths('/apis/events.k8s.io/v1/namespaces/team-a/events')
      .map((path) => (this.fake.read(path) as { reason?: string }).reason ?? '');
  }

  get row(): Promise<ManagedKey | undefined> {
    return this.object === undefined ? Promise.resolve(undefined) : this.rows.read(keyIdOf(this.object));
  }

  /** Creates the GatewayKey, or changes it like a user. */
  apply(spec: object = {}, metadata: StoredObject['metadata'] = {}): void {
    const stored = this.fake.read(this.path);
    const annotations = { ...stored?.metadata?.annotations, ...metadata.annotations };
    this.fake.put(this.path, { ...stored, spec, metadata: { ...stored?.metadata, ...metadata, annotations } });
  }

  /** Whether the token in the Secret is accepted. */
  async isAccepted(token: string | undefined = this.token): Promise<boolean> {
    const row = await this.row;
    if (token === undefined || row === undefined || row.isRevoked) return false;
    return isHashOf(HASHES, token, row.token) || isHashOf(HASHES, token, row.next);
  }

  /** Runs a pass. After an error another process runs the next one. */
  async pass(rows: ManagedKeyRows = this.rows): Promise<number | undefined> {
    this.#reconciler ??= this.#create(rows);
    try {
      return (await this.#reconciler.reconcile('team-a/key', NEVER)).requeueAfterMs;
    } catch (error) {
      this.#reconciler = undefined;
      throw error;
    }
  }

  /** Runs passes until one succeeds without requesting another; resolves with the earlier errors. */
  async converge(rows: ManagedKeyRows = this.rows): Promise<string[]> {
    const errors: string[] = [];
    let cause: unknown;
    for (let passes = 0; passes < MAX_PASSES; passes += 1) {
      try {
        const again = await this.pass(rows);
        if (again === undefined || again > 0) return errors;
      } catch (error) {
        errors.push(`${codeOf(error)} ${String(error)}`);
        cause = error;
      }
    }
    throw new Error(`not settled after ${MAX_PASSES} passes: ${[...new Set(errors)].join('; ')}`, { cause });
  }

  restart(): void {
    this.#reconciler = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    await this.fake[Symbol.asyncDispose]();
  }

  #create(rows: ManagedKeyRows): GatewayKeyReconciler {
    return new GatewayKeyReconciler({
      server: this.server,
      rows,
      hasPlan: (name) => hasPlanRow(this.#pool, name),
      hashes: HASHES,
      logger: createLogger('test', 'info', { write: (line) => this.log.push(line) }),
      clients: this.clients,
      events: new EventRecorder(this.server, { controller: 'test', instance: 'test' }, () => {}),
      defaultTenant: undefined,
      cached: { key: () => this.object, namespace: () => undefined },
      random: randomBytes,
      clock: () => this.now,
      propagationMs: this.propagationMs,
    });
  }
}
