import { parseDuration } from '@vitrine/config/durations';
import type { TokenHashes } from '@vitrine/credentials/token-hashes';
import type {
  ManagedKeyFields,
  ManagedKeyRows,
  NewManagedKey,
  OwnedKey,
  RegisterOutcome,
  TokenOfKey,
  TokenOutcome,
} from '@vitrine/gateway-keys/managed-key';
import { invariant } from '@vitrine/faults/invariant';
import { hasStatus, type ApiRequests } from '../runtime/kubernetes-client.ts';
import type { ConditionReason } from '../runtime/conditions.ts';
import { mergeObject } from '../runtime/object-requests.ts';
import { type ClientSettings, describedData, rotationAnnotations, secretData, secretMetadata, tokenIn } from './key-secret.ts';
import type { KeyAction } from './decide-key.ts';
import { FINALIZER, gatewayKeyPath, type GatewayKeyObject } from './gateway-key-resource.ts';
import type { GatewayKeySpec } from './gateway-key-spec.ts';
import { secretNameOf } from './read-spec.ts';
import { isConditionReason, type ObservedKey, type ObservedResources, type SecretObject } from './observed-key.ts';

const DEFAULT_GRACE_MS = 120_000;

/** A token that is accepted and not published yet. It is lost with the process, which then stages another. */
export interface StagedToken {
  readonly token: string;
  readonly at: number;
}

interface KeyActionsOptions {
  readonly server: ApiRequests;
  readonly rows: ManagedKeyRows;
  readonly hashes: TokenHashes;
  readonly clients: ClientSettings;
  readonly staged: Map<string, StagedToken>;
  readonly newToken: () => string;
}

const PROBLEMS: Readonly<
  Record<Exclude<RegisterOutcome | TokenOutcome, 'registered' | 'written' | 'not_owned'>, ConditionReason>
> = {
  id_taken: {
    reason: 'IdConflict',
    message: 'the id of the key was used before, and can never be used again: make a GatewayKey with another keyId',
  },
  token_taken: { reason: 'TokenConflict', message: 'a key has or had this token: put another one into the Secret' },
  pepper_mismatch: {
    reason: 'PepperMismatch',
    message:
      'the peppers of the operator are not those of the stored tokens: put the right ones back; nothing is changed until then',
  },
  full: { reason: 'KeyLimitReached', message: 'the maximum of active keys is reached: revoke unused ones' },
};

type RunAction = (resources: ObservedResources, observed: ObservedKey, signal: AbortSignal) => Promise<unknown>;

/** Runs one action and updates the resources with the written values. */
export class KeyActions {
  readonly #options: KeyActionsOptions;
  readonly #actions: Readonly<Record<KeyAction, RunAction>> = {
    addFinalizer: (resources, _, signal) => this.#setFinalizers(resources, (before) => [...before, FINALIZER], signal),
    removeFinalizer: (resources, _, signal) => this.#removeFinalizer(resources, signal),
    createSecret: (resources, observed, signal) => this.#createSecret(resources, observed, this.#options.newToken(), signal),
    publishToken: (resources, observed, signal) => this.#publishToken(resources, observed, signal),
    describeSecret: (resources, observed, signal) => this.#describeSecret(resources, observed, signal),
    orphan: (resources, observed, signal) => this.#orphan(resources, observed, signal),
    register: this.#rowAction(async (rows, _, observed, resources) => {
      const { key, fields, token } = registrationOf(observed, resources.secret, this.#options.hashes);
      noteProblem(resources, await rows.register(key, fields, token));
    }),
    replaceToken: this.#rowAction(async (rows, key, observed, resources) => {
      const token = hashesOf(this.#options.hashes, tokenOf(resources.secret, observed));
      noteProblem(resources, await rows.replaceToken(key, token, graceMsOf(observed)));
    }),
    stageToken: this.#rowAction(async (rows, key, { now }, resources) => {
      const token = this.#options.newToken();
      noteProblem(resources, await rows.stageToken(key, hashesOf(this.#options.hashes, token)));
      this.#options.staged.set(key.owner_uid, { token, at: now });
    }),
    promoteToken: this.#rowAction(async (rows, key, observed) => {
      await rows.promoteToken(key, graceMsOf(observed));
      this.#options.staged.delete(key.owner_uid);
    }),
    update: this.#rowAction((rows, key, { fields }) => rows.update(key, wanted(fields))),
    adopt: this.#rowAction((rows, key, { fields }) => rows.adopt(key, wanted(fields))),
    revoke: this.#rowAction((rows, key) => rows.revoke(key)),
  };

  constructor(options: KeyActionsOptions) {
    this.#options = options;
  }

  async run(action: KeyAction, resources: ObservedResources, observed: ObservedKey, signal: AbortSignal): Promise<void> {
    await this.#actions[action](resources, observed, signal);
  }

  /** An action in the database, after which the row is read again. */
  #rowAction(
    write: (rows: ManagedKeyRows, key: OwnedKey, observed: ObservedKey, resources: ObservedResources) => Promise<unknown>,
  ): RunAction {
    return async (resources, observed) => {
      const { rows } = this.#options;
      await write(rows, ownedKeyOf(observed), observed, resources);
      resources.row = await rows.read(observed.keyId);
    };
  }

  /** Publishes the staged token. A key without a row gets a new one, which is registered next. */
  async #publishToken(resources: ObservedResources, observed: ObservedKey, signal: AbortSignal): Promise<void> {
    const { staged, newToken, clients } = this.#options;
    const token = observed.row === undefined ? newToken() : staged.get(observed.object.metadata.uid)?.token;
    invariant(token !== undefined, 'a token is staged');
    if (resources.secret === undefined) return await this.#createSecret(resources, observed, token, signal);
    await this.#mergeSecret(resources, contentOf(observed, token, clients), signal);
  }

  async #createSecret(resources: ObservedResources, observed: ObservedKey, token: string, signal: AbortSignal): Promise<void> {
    const { server, clients } = this.#options;
    const { metadata, data } = contentOf(observed, token, clients);
    const { namespace } = observed.object.metadata;
    const name = secretNameOf(observed.object.metadata.name, specOf(observed));
    const body = { apiVersion: 'v1', kind: 'Secret', type: 'Opaque', metadata: { name, namespace, ...metadata }, data };
    const path = `/api/v1/namespaces/${namespace}/secrets`;
    try {
      resources.secret = await server.request<SecretObject>({ method: 'POST', path, body, signal });
    } catch (error) {
      // Another writer created it in the meantime, or an earlier request whose response was lost.
      if (!hasStatus(error, 409, 'AlreadyExists')) throw error;
      resources.secret = await server.request<SecretObject>({ method: 'GET', path: `${path}/${name}`, signal });
    }
  }

  async #describeSecret(resources: ObservedResources, observed: ObservedKey, signal: AbortSignal): Promise<void> {
    const { secret } = resources;
    invariant(secret !== undefined, 'a Secret is observed');
    const metadata = secretMetadata(observed.object, specOf(observed));
    await this.#mergeSecret(resources, { metadata, data: describedData(secret, observed.keyId, this.#options.clients) }, signal);
  }

  /** The Secret first, because this step is repeated while the row is owned. */
  async #orphan(resources: ObservedResources, observed: ObservedKey, signal: AbortSignal): Promise<void> {
    const { rows } = this.#options;
    const { uid } = observed.object.metadata;
    const owners = resources.secret?.metadata.ownerReferences ?? [];
    const others = owners.filter((owner) => owner.uid !== uid);
    if (others.length < owners.length) await this.#mergeSecret(resources, { metadata: { ownerReferences: others } }, signal);
    await rows.release(ownedKeyOf(observed));
    resources.row = await rows.read(observed.keyId);
  }

  async #mergeSecret(
    resources: ObservedResources,
    change: { readonly metadata: object; readonly data?: object },
    signal: AbortSignal,
  ): Promise<void> {
    const { secret } = resources;
    invariant(secret !== undefined, 'a Secret is observed');
    const { namespace, name, resourceVersion } = secret.metadata;
    const path = `/api/v1/namespaces/${namespace}/secrets/${name}`;
    resources.secret = await mergeObject<SecretObject>(this.#options.server, path, change, resourceVersion, signal);
  }

  async #removeFinalizer(resources: ObservedResources, signal: AbortSignal): Promise<void> {
    try {
      await this.#setFinalizers(resources, (before) => before.filter((finalizer) => finalizer !== FINALIZER), signal);
    } catch (error) {
      if (!hasStatus(error, 404)) throw error;
    }
  }

  /** Fails with a conflict if another writer changed the object in the meantime. */
  async #setFinalizers(
    resources: ObservedResources,
    change: (before: readonly string[]) => readonly string[],
    signal: AbortSignal,
  ): Promise<void> {
    const { object } = resources;
    const { finalizers = [], resourceVersion } = object.metadata;
    const patch = { metadata: { finalizers: change(finalizers) } };
    const { server } = this.#options;
    resources.object = await mergeObject<GatewayKeyObject>(server, gatewayKeyPath(object), patch, resourceVersion, signal);
  }
}

function noteProblem(resources: ObservedResources, outcome: RegisterOutcome | TokenOutcome): void {
  if (outcome !== 'registered' && outcome !== 'written' && outcome !== 'not_owned') resources.problem = PROBLEMS[outcome];
}

/** Metadata and data of the Secret with a new token. */
function contentOf(observed: ObservedKey, token: string, clients: ClientSettings) {
  const { object, keyId, now } = observed;
  const spec = specOf(observed);
  const { annotations, ...metadata } = secretMetadata(object, spec);
  return {
    metadata: { ...metadata, annotations: { ...annotations, ...rotationAnnotations(object, spec, now) } },
    data: secretData(token, keyId, clients),
  };
}

function ownedKeyOf({ keyId, object }: ObservedKey): OwnedKey {
  return { id: keyId, owner_uid: object.metadata.uid };
}

/** The row of a key whose Secret has a token. */
export function registrationOf(observed: ObservedKey, secret: SecretObject | undefined, hashes: TokenHashes): NewManagedKey {
  return {
    key: ownedKeyOf(observed),
    fields: wanted(observed.fields),
    token: hashesOf(hashes, tokenOf(secret, observed)),
  };
}

function hashesOf(hashes: TokenHashes, token: string): TokenOfKey {
  const [newest, ...older] = hashes.all(token);
  invariant(newest !== undefined, 'there is a pepper');
  return [newest, ...older];
}

function wanted(fields: ManagedKeyFields | undefined): ManagedKeyFields {
  invariant(fields !== undefined, 'the fields of the row are known');
  return fields;
}

function specOf({ spec }: ObservedKey): GatewayKeySpec {
  invariant(!isConditionReason(spec), 'the spec is valid');
  return spec;
}

function tokenOf(secret: SecretObject | undefined, observed: ObservedKey): string {
  const token = secret && tokenIn(secret, specOf(observed).tokenSecretRef?.key ?? 'token');
  invariant(token !== undefined, 'the Secret has a token');
  return token;
}

function graceMsOf(observed: ObservedKey): number {
  return parseDuration(specOf(observed).rotation?.gracePeriod ?? '') ?? DEFAULT_GRACE_MS;
}
