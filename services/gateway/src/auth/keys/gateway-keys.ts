import { createToken } from '@vitrine/credentials/token';
import { pepperProblemText, type PepperProblem } from '@vitrine/credentials/pepper-problem';
import type { NewTokenHash, TokenHash, TokenHashes } from '@vitrine/credentials/token-hashes';
import { codeOf, Fault } from '@vitrine/faults/fault';
import type { AuditEvent } from '@vitrine/gateway-keys/audit-log';
import { gatewayKeyOf, type GatewayKey, type GatewayKeyWithToken, type Identity } from '@vitrine/gateway-keys/gateway-key';
import { idText, isReservedKeyId, RESERVED_KEY_ID } from '@vitrine/gateway-keys/key-fields';
import type { KeyRow } from '@vitrine/gateway-keys/key-row';
import type { KeyStore, KeyUpdate } from '@vitrine/gateway-keys/key-store';
import type { Permission } from '@vitrine/gateway-keys/permission';
import { DEFAULT_ROLE, effectivePermissions } from '@vitrine/gateway-keys/role';
import { scrub } from '@vitrine/privacy/scrub';
import type { Tenant } from '@vitrine/traces/exchange-scope';
import type { AuditTrail } from '../audit/audit-trail.ts';
import type { KeyRing } from './key-ring.ts';

const DEFAULT_TENANT_ID = 'default';
/** Maximum length of the target of an audit event, which is an id from a path. */
const TARGET_MAX_LENGTH = 128;

/** The caller that changes keys. */
export interface KeyActor {
  /** Undefined for the command line and with authentication off: they have every permission in every tenant. */
  readonly identity: Identity | undefined;
  readonly correlationId: string;
}

/** The fields of a new key; empty texts count as absent. */
export interface NewKeyRequest {
  readonly id?: string | undefined;
  readonly token?: string | undefined;
  readonly org_id?: string | undefined;
  readonly workspace_id?: string | undefined;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly role?: string | undefined;
  readonly permissions?: readonly Permission[] | undefined;
  readonly plan?: string | undefined;
}

/** Functions that need the peppers, which are read only when keys are needed. */
export interface KeyMaterial {
  readonly hashes: TokenHashes;
  /** The keys of the YAML file. */
  readonly fixed: readonly KeyRow[];
  readonly ring: KeyRing;
}

interface GatewayKeysOptions {
  readonly store: KeyStore;
  /** False with `auth.store: file`. */
  readonly isMutable: boolean;
  readonly material: () => KeyMaterial;
  readonly trail: AuditTrail;
  readonly random: (bytes: number) => Buffer;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** An audit event whose tenant is the actor's, or becomes that of the changed key when the actor has none. */
interface EventDraft extends AuditEvent {
  org_id: string;
  workspace_id: string;
}

/** A key that no operator manages. Only `#changeable` makes one, so that no change can omit its checks. */
type ChangeableKey = KeyRow & { readonly managed_by: undefined };

/** Lists and changes gateway keys, for the admin API and the command line. Rejected changes are audited like accepted ones. An accepted
 *  change is in effect in this process when its promise resolves.
 *  Faults: `forbidden`, `invalid_body`, `gateway_key_not_found`, `gateway_key_exists`, `gateway_key_token_exists`, `gateway_key_managed`,
 *  `gateway_keys_full`, `gateway_keys_read_only`, `key_store_unavailable`, `pepper_mismatch`. Spec: G8.15 to G8.24. */
export class GatewayKeys {
  readonly #options: GatewayKeysOptions;

  constructor(options: GatewayKeysOptions) {
    this.#options = options;
  }

  /** Active keys of the tenant, or of all, by `created_at`, then `id`. */
  async list(tenant: Tenant | undefined): Promise<GatewayKey[]> {
    const { store, isMutable, material } = this.#options;
    const { fixed, ring } = material();
    const stored = isMutable ? await store.list(tenant) : [];
    const fromFile = fixed.filter((row) => tenant === undefined || isOf(row, tenant));
    return [...fromFile, ...stored.filter(({ id }) => !fixed.some((row) => row.id === id))]
      .toSorted((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1))
      .map((row) =>
        gatewayKeyOf({ ...row, last_used_at: Math.max(row.last_used_at ?? 0, ring.lastUsedAt(row.id)) || undefined }),
      );
  }

  async create(actor: KeyActor, request: NewKeyRequest): Promise<GatewayKeyWithToken> {
    const { store, random, clock } = this.#options;
    const id = request.id || `gk_${random(8).toString('hex')}`;
    const tenant = {
      org_id: actor.identity?.org_id ?? (request.org_id || DEFAULT_TENANT_ID),
      workspace_id: actor.identity?.workspace_id ?? (request.workspace_id || DEFAULT_TENANT_ID),
    };
    return this.#audited(actor, 'gateway_key.create', id, async (event) => {
      Object.assign(event, tenant);
      this.#requireMutable();
      if (isReservedKeyId(id)) throw new Fault('invalid_body', { say: `id: ${RESERVED_KEY_ID}` });
      const role = request.role || DEFAULT_ROLE;
      const permissions = request.permissions ?? [];
      requireHeldPermissions(actor, effectivePermissions(role, permissions));
      const idAsToken = this.#options.material().hashes.all(id);
      if (this.#options.material().fixed.some((row) => row.id === id) || this.#isTokenOfFile(idAsToken)) throw idTaken();
      await this.#rejectIdAsToken(request.token, id);
      const { token, known } = this.#hashed(request.token);
      const outcome = await store.create(
        {
          id,
          ...tenant,
          name: request.name || undefined,
          description: request.description || undefined,
          created_by: actor.identity?.key_id ?? 'system',
          role,
          permissions,
          plan: request.plan || undefined,
          created_at: clock(),
          managed_by: undefined,
          managed_resource: undefined,
          pepper_version: known[0].pepper_version,
          token_mac: known[0].token_mac,
        },
        known,
        event,
        idAsToken,
      );
      if (outcome.kind === 'created') return this.#applied(outcome.row, token);
      if (outcome.kind === 'full')
        throw new Fault('gateway_keys_full', { say: `gateway key limit reached (${outcome.maxActiveKeys}); revoke unused keys` });
      if (outcome.kind === 'pepper_mismatch') throw pepperMismatch(outcome.problem);
      throw outcome.kind === 'id_taken' ? idTaken() : tokenTaken();
    });
  }

  async rotate(actor: KeyActor, id: string, chosen: string | undefined): Promise<GatewayKeyWithToken> {
    return this.#audited(actor, 'gateway_key.rotate', id, async (event) => {
      const found = await this.#changeable(actor, id, event);
      // The new token has the permissions of the key.
      requireHeldPermissions(actor, effectivePermissions(found.role, found.permissions));
      await this.#rejectIdAsToken(chosen, id);
      const { token, known } = this.#hashed(chosen);
      return this.#applied(await this.#update(actor, found, { token: known }, event), token);
    });
  }

  async revoke(actor: KeyActor, id: string): Promise<void> {
    return this.#audited(actor, 'gateway_key.revoke', id, async (event) => {
      const found = await this.#changeable(actor, id, event);
      const { revision } = await this.#update(actor, found, { revoked_at: event.at }, event);
      this.#options.material().ring.remove(id, revision);
    });
  }

  /** The row in the actor's tenant, if it may be changed here. The event gets its tenant, so that the tenant sees changes by `system`. */
  async #changeable({ identity }: KeyActor, id: string, event: EventDraft): Promise<ChangeableKey> {
    this.#requireMutable();
    const fileKey = this.#options.material().fixed.find((row) => row.id === id);
    if (fileKey !== undefined && (identity === undefined || isOf(fileKey, identity))) throw readOnly();
    const found = fileKey === undefined ? await this.#options.store.find(id, identity) : undefined;
    if (found === undefined) throw notFound();
    event.org_id = found.org_id;
    event.workspace_id = found.workspace_id;
    const { managed_by } = found;
    if (managed_by !== undefined) throw managed(found);
    return { ...found, managed_by };
  }

  async #update({ identity }: KeyActor, { id }: ChangeableKey, update: KeyUpdate, event: EventDraft): Promise<KeyRow> {
    const outcome = await this.#options.store.update(id, identity, update, event);
    if (outcome.kind === 'updated') return outcome.row;
    if (outcome.kind === 'pepper_mismatch') throw pepperMismatch(outcome.problem);
    throw outcome.kind === 'not_found' ? notFound() : tokenTaken();
  }

  #requireMutable(): void {
    if (!this.#options.isMutable) throw readOnly();
  }

  /** Ids are visible in lists, traces and logs: a token that equals one could be read there. */
  async #rejectIdAsToken(token: string | undefined, id: string): Promise<void> {
    const { store, material } = this.#options;
    if (token === undefined || !idText.safeParse(token).success) return;
    if (token === id || material().fixed.some((row) => row.id === token) || (await store.hasId(token)))
      throw new Fault('invalid_body', { say: 'token: must not be the id of a gateway key: ids are shown' });
  }

  /** A token, chosen or new, and all hashes under which it might already be stored. */
  #hashed(chosen: string | undefined): { token: string; known: readonly [NewTokenHash, ...NewTokenHash[]] } {
    const { material, random } = this.#options;
    const { hashes } = material();
    const token = chosen || createToken('sgk_', random);
    const [newest = hashes.hash(token), ...older] = hashes.all(token);
    if (this.#isTokenOfFile([newest, ...older])) throw tokenTaken();
    return { token, known: [newest, ...older] };
  }

  #isTokenOfFile(hashes: readonly TokenHash[]): boolean {
    const { fixed } = this.#options.material();
    return hashes.some(({ token_mac: mac }) => fixed.some((row) => Buffer.compare(row.token_mac, mac) === 0));
  }

  #applied(row: KeyRow, token: string): GatewayKeyWithToken {
    this.#options.material().ring.put(row);
    return { ...gatewayKeyOf(row), token };
  }

  async #audited<T>(
    actor: KeyActor,
    action: AuditEvent['action'],
    target: string,
    work: (event: EventDraft) => Promise<T>,
  ): Promise<T> {
    const { trail, clock } = this.#options;
    const event: EventDraft = {
      at: clock(),
      actor: actor.identity?.key_id ?? 'system',
      action,
      target: scrub(target).text.slice(0, TARGET_MAX_LENGTH),
      outcome: 'allow',
      reason: '',
      correlation_id: scrub(actor.correlationId).text,
      org_id: actor.identity?.org_id ?? '',
      workspace_id: actor.identity?.workspace_id ?? '',
    };
    try {
      const result = await work(event);
      trail.changed(event);
      return result;
    } catch (error) {
      trail.rejectedChange({ ...event, outcome: 'deny', reason: codeOf(error) || 'internal_error' });
      throw error;
    }
  }
}

/** A caller cannot grant permissions that it does not have. */
function requireHeldPermissions({ identity }: KeyActor, permissions: ReadonlySet<Permission>): void {
  if (identity === undefined) return;
  const beyond = [...permissions].filter((permission) => !identity.permissions.has(permission));
  if (beyond.length > 0)
    throw new Fault('forbidden', { say: `gateway key cannot grant permissions that it does not have: ${beyond.join(', ')}` });
}

function isOf(row: KeyRow, { org_id, workspace_id }: Tenant): boolean {
  return row.org_id === org_id && row.workspace_id === workspace_id;
}

/** Keys created with another pepper would hide that one is lost. */
const pepperMismatch = (problem: PepperProblem) => new Fault('pepper_mismatch', { say: pepperProblemText(problem) });
const notFound = () => new Fault('gateway_key_not_found', { say: 'gateway key not found' });
const idTaken = () => new Fault('gateway_key_exists', { say: 'gateway key already exists' });
const tokenTaken = () => new Fault('gateway_key_token_exists', { say: 'gateway key token already exists' });
const readOnly = () =>
  new Fault('gateway_keys_read_only', { say: 'gateway key mutations are not supported by this config store' });
const managed = ({ managed_by, managed_resource }: KeyRow) =>
  new Fault('gateway_key_managed', {
    say: `gateway key is managed by ${managed_resource ?? managed_by ?? 'another'}; change it there`,
  });
