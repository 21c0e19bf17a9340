import { parseDuration } from '@vitrine/config/durations';
import type { TokenHashes } from '@vitrine/credentials/token-hashes';
import type {
  ManagedKeyFields,
  ManagedKeyRows,
  NewManagedKey,
  RegisterOutcome,
  TokenOfKey,
  TokenOutcome,
} from '@vitrine/gateway-keys/managed-key';
import { invariant } from '@vitrine/faults/invariant';
import { hasStatus } from '../runtime/api-error.ts';
import type { ApiRequests } from '../runtime/kubernetes-client.ts';
import { mergeObject } from '../runtime/object-requests.ts';
import { type ClientSettings, describedData, rotationAnnotations, secretData, secretMetadata, tokenIn } from './key-secret.ts';
import type { KeyAction } from './decide-key.ts';
import { FINALIZER, gatewayKeyPath, type GatewayKeyObject, type GatewayKeySpec } from './gateway-key-resource.ts';
import { secretNameOf } from './key-fields-of-spec.ts';
import {
  isConditionReason,
  type ObservedKey,
  type ObservedResources,
  type ConditionReason,
  type SecretObject,
} from './observed-key.ts';

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

type RowAction = 'register' | 'replaceToken' | 'stageToken' | 'promoteToken' | 'update' | 'adopt' | 'revoke';

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
  full: { reason: 'KeyLimitReached', message: 'there are as many active keys as gateways hold: revoke unused ones' },
};

/** Does one step, and puts what it wrote into the resources. */
export class KeyActions {
  readonly #options: KeyActionsOptions;

  constructor(options: KeyActionsOptions) {
    this.#options = options;
  }

  async run(action: KeyAction, resources: ObservedResources, observed: ObservedKey, signal: AbortSignal): Promise<void> {
    switch (action) {
      case 'addFinalizer':
        return await this.#setFinalizers(resources, [...(resources.object.metadata.finalizers ?? []), FINALIZER], signal);
      case 'removeFinalizer':
        return await this.#removeFinalizer(resources, signal);
      case 'createSecret':
        return await this.#createSecret(resources, observed, this.#options.newToken(), signal);
      case 'publishToken':
        return await this.#publishToken(resources, observed, signal);
      case 'describeSecret':
        return await this.#describeSecret(resources, observed, signal);
      case 'orphan':
        return await this.#orphan(resources, observed, signal);
      case 'register':
      case 'replaceToken':
      case 'stageToken':
      case 'promoteToken':
      case 'update':
      case 'adopt':
      case 'revoke':
        return await this.#write(action, resources, observed);
      default: {
        const unexpected: never = action;
        return unexpected;
      }
    }
  }

  /** The steps in the database; what they found out is read again. */
  async #write(action: RowAction, resources: ObservedResources, observed: ObservedKey): Promise<void> {
    const { rows } = this.#options;
    const key = { id: observed.keyId, owner_uid: observed.object.metadata.uid };
    const fields = () => wanted(observed.fields);
    switch (action) {
      case 'register':
        this.#note(resources, await this.#register(resources, observed));
        break;
      case 'replaceToken':
        this.#note(
          resources,
          await rows.replaceToken(key, hashesOf(this.#options.hashes, tokenOf(resources.secret, observed)), graceMsOf(observed)),
        );
        break;
      case 'stageToken':
        await this.#stage(resources, observed);
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
    resources.row = await rows.read(key.id);
  }

  #register({ secret }: ObservedResources, observed: ObservedKey): Promise<RegisterOutcome> {
    const { key, fields, token } = registrationOf(observed, secret, this.#options.hashes);
    return this.#options.rows.register(key, fields, token);
  }

  async #stage(resources: ObservedResources, { keyId, object, now }: ObservedKey): Promise<void> {
    const { rows, staged, newToken } = this.#options;
    const token = newToken();
    const { uid } = object.metadata;
    this.#note(resources, await rows.stageToken({ id: keyId, owner_uid: uid }, hashesOf(this.#options.hashes, token)));
    staged.set(uid, { token, at: now });
  }

  /** The staged token, or for a key without a row any: it is registered next. */
  async #publishToken(resources: ObservedResources, observed: ObservedKey, signal: AbortSignal): Promise<void> {
    const { server, staged, newToken } = this.#options;
    const { object, keyId, now, row } = observed;
    const token = row === undefined ? newToken() : staged.get(object.metadata.uid)?.token;
    invariant(token !== undefined, 'a token is staged');
    const { secret } = resources;
    if (secret === undefined) return await this.#createSecret(resources, observed, token, signal);
    const spec = specOf(observed);
    const { annotations, ...metadata } = secretMetadata(object, spec);
    const change = {
      metadata: { ...metadata, annotations: { ...annotations, ...rotationAnnotations(object, spec, now) } },
      data: secretData(token, keyId, this.#options.clients),
    };
    resources.secret = await mergeObject<SecretObject>(server, pathOf(secret), change, secret.metadata.resourceVersion, signal);
  }

  async #createSecret(resources: ObservedResources, observed: ObservedKey, token: string, signal: AbortSignal): Promise<void> {
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
      resources.secret = await this.#options.server.request<SecretObject>({ method: 'POST', path, body, signal });
    } catch (error) {
      // Somebody made it meanwhile, or an earlier request did whose response was lost.
      if (!hasStatus(error, 409, 'AlreadyExists')) throw error;
      resources.secret = await this.#options.server.request<SecretObject>({ method: 'GET', path: `${path}/${name}`, signal });
    }
  }

  async #describeSecret(resources: ObservedResources, observed: ObservedKey, signal: AbortSignal): Promise<void> {
    const { secret } = resources;
    invariant(secret !== undefined, 'a Secret is observed');
    const metadata = secretMetadata(observed.object, specOf(observed));
    const data = describedData(secret, observed.keyId, this.#options.clients);
    const { resourceVersion } = secret.metadata;
    resources.secret = await mergeObject<SecretObject>(
      this.#options.server,
      pathOf(secret),
      { metadata, data },
      resourceVersion,
      signal,
    );
  }

  /** The Secret first: while the row is owned, this is repeated. */
  async #orphan(resources: ObservedResources, observed: ObservedKey, signal: AbortSignal): Promise<void> {
    const { server, rows } = this.#options;
    const { secret } = resources;
    const { uid } = observed.object.metadata;
    const owners = secret?.metadata.ownerReferences ?? [];
    if (secret !== undefined && owners.some((owner) => owner.uid === uid)) {
      const change = { metadata: { ownerReferences: owners.filter((owner) => owner.uid !== uid) } };
      resources.secret = await mergeObject<SecretObject>(server, pathOf(secret), change, secret.metadata.resourceVersion, signal);
    }
    await rows.release({ id: observed.keyId, owner_uid: uid });
    resources.row = await rows.read(observed.keyId);
  }

  async #removeFinalizer(resources: ObservedResources, signal: AbortSignal): Promise<void> {
    const rest = (resources.object.metadata.finalizers ?? []).filter((finalizer) => finalizer !== FINALIZER);
    try {
      await this.#setFinalizers(resources, rest, signal);
    } catch (error) {
      if (!hasStatus(error, 404)) throw error;
    }
  }

  /** A conflict when anybody else changed the object meanwhile. */
  async #setFinalizers(resources: ObservedResources, finalizers: readonly string[], signal: AbortSignal): Promise<void> {
    const { object } = resources;
    const change = { metadata: { finalizers } };
    const { server } = this.#options;
    resources.object = await mergeObject<GatewayKeyObject>(
      server,
      gatewayKeyPath(object),
      change,
      object.metadata.resourceVersion,
      signal,
    );
  }

  #note(resources: ObservedResources, outcome: RegisterOutcome | TokenOutcome): void {
    if (outcome !== 'registered' && outcome !== 'written' && outcome !== 'not_owned') resources.problem = PROBLEMS[outcome];
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

function pathOf({ metadata: { namespace, name } }: SecretObject): string {
  return `/api/v1/namespaces/${namespace}/secrets/${name}`;
}
