import { parseDuration } from '@vitrine/config/durations';
import type { TokenHashes } from '@vitrine/credentials/token-hashes';
import type {
  ManagedKey,
  ManagedKeyFields,
  ManagedKeyRows,
  NewManagedKey,
  RegisterOutcome,
  TokenOfKey,
  TokenOutcome,
} from '@vitrine/gateway-keys/managed-key';
import { invariant } from '@vitrine/faults/invariant';
import { hasStatus } from '../runtime/api-error.ts';
import type { ApiRequests } from '../runtime/api-server.ts';
import { mergeObject } from '../runtime/object-requests.ts';
import type { ClientSettings } from './client-variables.ts';
import type { KeyAction } from './decide-key.ts';
import { FINALIZER, gatewayKeyPath, type GatewayKeyObject, type GatewayKeySpec } from './gateway-key-resource.ts';
import { secretNameOf } from './key-fields-of-spec.ts';
import type { NamespaceObject } from './namespace-tenant.ts';
import { describedData, rotationAnnotations, secretData, secretMetadata, tokenIn, type SecretObject } from './key-secret.ts';
import { isObstacle, type ObservedKey, type Obstacle } from './observed-key.ts';

const DEFAULT_GRACE_MS = 120_000;

/** What a pass knows of the world; steps replace its parts by what they wrote. */
export interface KeyWorld {
  object: GatewayKeyObject;
  namespace: NamespaceObject | undefined;
  secret: SecretObject | undefined;
  row: ManagedKey | undefined;
  hasPlan: boolean;
  obstacle: Obstacle | undefined;
}

/** A token that is accepted and not published yet. It is lost with the process, which then stages another. */
export interface StagedToken {
  readonly token: string;
  readonly at: number;
}

export interface KeyActionsOptions {
  readonly server: ApiRequests;
  readonly rows: ManagedKeyRows;
  readonly hashes: TokenHashes;
  readonly clients: ClientSettings;
  readonly staged: Map<string, StagedToken>;
  readonly newToken: () => string;
}

type RowAction = 'register' | 'replaceToken' | 'stageToken' | 'promoteToken' | 'update' | 'adopt' | 'revoke';

const OBSTACLES: Readonly<Record<Exclude<RegisterOutcome | TokenOutcome, 'registered' | 'written' | 'not_owned'>, Obstacle>> = {
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
  full: { reason: 'KeyLimitReached', message: 'there are as many active keys as gateways hold: revoke unused ones' },
};

/** Does one step, and puts what it wrote into the world. */
export class KeyActions {
  readonly #options: KeyActionsOptions;

  constructor(options: KeyActionsOptions) {
    this.#options = options;
  }

  async run(action: KeyAction, world: KeyWorld, observed: ObservedKey, signal: AbortSignal): Promise<void> {
    switch (action) {
      case 'addFinalizer':
        return await this.#setFinalizers(world, [...(world.object.metadata.finalizers ?? []), FINALIZER], signal);
      case 'removeFinalizer':
        return await this.#removeFinalizer(world, signal);
      case 'createSecret':
        return await this.#createSecret(world, observed, this.#options.newToken(), signal);
      case 'publishToken':
        return await this.#publishToken(world, observed, signal);
      case 'describeSecret':
        return await this.#describeSecret(world, observed, signal);
      case 'orphan':
        return await this.#orphan(world, observed, signal);
      case 'register':
      case 'replaceToken':
      case 'stageToken':
      case 'promoteToken':
      case 'update':
      case 'adopt':
      case 'revoke':
        return await this.#write(action, world, observed);
      default: {
        const unexpected: never = action;
        return unexpected;
      }
    }
  }

  /** The steps in the database; what they found out is read again. */
  async #write(action: RowAction, world: KeyWorld, observed: ObservedKey): Promise<void> {
    const { rows } = this.#options;
    const key = { id: observed.keyId, owner_uid: observed.object.metadata.uid };
    const fields = () => wanted(observed.fields);
    switch (action) {
      case 'register':
        this.#note(world, await this.#register(world, observed));
        break;
      case 'replaceToken':
        this.#note(
          world,
          await rows.replaceToken(key, hashesOf(this.#options.hashes, tokenOf(world.secret, observed)), graceMsOf(observed)),
        );
        break;
      case 'stageToken':
        await this.#stage(world, observed);
        break;
      case 'promoteToken':
        await rows.promoteToken(key, graceMsOf(observed));
        this.#options.staged.delete(key.owner_uid);
        break;
      case 'update':
        await rows.update(key, fields());
        break;
      case 'adopt':
        await rows.adopt(key, fields());
        break;
      case 'revoke':
        await rows.revoke(key);
        break;
      default: {
        const unexpected: never = action;
        return unexpected;
      }
    }
    world.row = await rows.read(key.id);
  }

  #register({ secret }: KeyWorld, observed: ObservedKey): Promise<RegisterOutcome> {
    const { key, fields, token } = registrationOf(observed, secret, this.#options.hashes);
    return this.#options.rows.register(key, fields, token);
  }

  async #stage(world: KeyWorld, { keyId, object, now }: ObservedKey): Promise<void> {
    const { rows, staged, newToken } = this.#options;
    const token = newToken();
    const { uid } = object.metadata;
    this.#note(world, await rows.stageToken({ id: keyId, owner_uid: uid }, hashesOf(this.#options.hashes, token)));
    staged.set(uid, { token, at: now });
  }

  /** The staged token, or for a key without a row any: it is registered next. */
  async #publishToken(world: KeyWorld, observed: ObservedKey, signal: AbortSignal): Promise<void> {
    const { server, staged, newToken } = this.#options;
    const { object, keyId, now, row } = observed;
    const token = row === undefined ? newToken() : staged.get(object.metadata.uid)?.token;
    invariant(token !== undefined, 'a token is staged');
    const { secret } = world;
    if (secret === undefined) return await this.#createSecret(world, observed, token, signal);
    const spec = specOf(observed);
    const { annotations, ...metadata } = secretMetadata(object, spec);
    const change = {
      metadata: { ...metadata, annotations: { ...annotations, ...rotationAnnotations(object, spec, now) } },
      data: secretData(token, keyId, this.#options.clients),
    };
    world.secret = await mergeObject<SecretObject>(server, pathOf(secret), change, secret.metadata.resourceVersion, signal);
  }

  async #createSecret(world: KeyWorld, observed: ObservedKey, token: string, signal: AbortSignal): Promise<void> {
    const { object, keyId, now } = observed;
    const spec = specOf(observed);
    const { namespace } = object.metadata;
    const { annotations, ...metadata } = secretMetadata(object, spec);
    const name = secretNameOf(object.metadata.name, spec);
    const body = {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'Opaque',
      metadata: { name, namespace, ...metadata, annotations: { ...annotations, ...rotationAnnotations(object, spec, now) } },
      data: secretData(token, keyId, this.#options.clients),
    };
    const path = `/api/v1/namespaces/${namespace}/secrets`;
    try {
      world.secret = await this.#options.server.request<SecretObject>({ method: 'POST', path, body, signal });
    } catch (error) {
      // Somebody made it meanwhile, or an earlier request did whose response was lost.
      if (!hasStatus(error, 409, 'AlreadyExists')) throw error;
      world.secret = await this.#options.server.request<SecretObject>({ method: 'GET', path: `${path}/${name}`, signal });
    }
  }

  async #describeSecret(world: KeyWorld, observed: ObservedKey, signal: AbortSignal): Promise<void> {
    const { secret } = world;
    invariant(secret !== undefined, 'a Secret is observed');
    const metadata = secretMetadata(observed.object, specOf(observed));
    const data = describedData(secret, observed.keyId, this.#options.clients);
    const { resourceVersion } = secret.metadata;
    world.secret = await mergeObject<SecretObject>(
      this.#options.server,
      pathOf(secret),
      { metadata, data },
      resourceVersion,
      signal,
    );
  }

  /** The Secret first: while the row is owned, this is repeated. */
  async #orphan(world: KeyWorld, observed: ObservedKey, signal: AbortSignal): Promise<void> {
    const { server, rows } = this.#options;
    const { secret } = world;
    const { uid } = observed.object.metadata;
    const owners = secret?.metadata.ownerReferences ?? [];
    if (secret !== undefined && owners.some((owner) => owner.uid === uid)) {
      const change = { metadata: { ownerReferences: owners.filter((owner) => owner.uid !== uid) } };
      world.secret = await mergeObject<SecretObject>(server, pathOf(secret), change, secret.metadata.resourceVersion, signal);
    }
    await rows.release({ id: observed.keyId, owner_uid: uid });
    world.row = await rows.read(observed.keyId);
  }

  async #removeFinalizer(world: KeyWorld, signal: AbortSignal): Promise<void> {
    const rest = (world.object.metadata.finalizers ?? []).filter((finalizer) => finalizer !== FINALIZER);
    try {
      await this.#setFinalizers(world, rest, signal);
    } catch (error) {
      if (!hasStatus(error, 404)) throw error;
    }
  }

  /** A conflict when anybody else changed the object meanwhile. */
  async #setFinalizers(world: KeyWorld, finalizers: readonly string[], signal: AbortSignal): Promise<void> {
    const { object } = world;
    const change = { metadata: { finalizers } };
    const { server } = this.#options;
    world.object = await mergeObject<GatewayKeyObject>(
      server,
      gatewayKeyPath(object),
      change,
      object.metadata.resourceVersion,
      signal,
    );
  }

  #note(world: KeyWorld, outcome: RegisterOutcome | TokenOutcome): void {
    if (outcome !== 'registered' && outcome !== 'written' && outcome !== 'not_owned') world.obstacle = OBSTACLES[outcome];
  }
}

/** The row of a key whose Secret has a token. */
export function registrationOf(observed: ObservedKey, secret: SecretObject | undefined, hashes: TokenHashes): NewManagedKey {
  return {
    key: { id: observed.keyId, owner_uid: observed.object.metadata.uid },
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
  invariant(!isObstacle(spec), 'the spec is valid');
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

function pathOf({ metadata: { namespace, name } }: SecretObject): string {
  return `/api/v1/namespaces/${namespace}/secrets/${name}`;
}
