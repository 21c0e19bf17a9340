import { CHOSEN_TOKEN } from '@vitrine/credentials/token';
import type { ExchangeScope } from '@vitrine/traces/exchange-scope';
import { z } from 'zod';
import type { KeyRow } from './key-row.ts';
import { PERMISSIONS, type Permission } from './permission.ts';
import { effectivePermissions } from './role.ts';

const moment = z.iso.datetime();

/** A gateway key as the API shows it. Spec: G8.1 to G8.12. */
export const gatewayKey = z
  .strictObject({
    id: z.string(),
    org_id: z.string(),
    workspace_id: z.string(),
    name: z.string().optional(),
    description: z.string().optional(),
    created_by: z.string().optional().describe('Key id of the creator, or operator or system.'),
    role: z.string(),
    permissions: z.array(z.enum(PERMISSIONS)).describe('Permissions in addition to those that the role implies.'),
    plan: z.string().optional(),
    created_at: moment,
    last_used_at: moment.optional().describe('Absent until used; some seconds behind.'),
    managed_by: z.string().optional().describe('operator: the row belongs to a resource, and REST cannot change it.'),
  })
  .meta({ id: 'GatewayKey', description: 'A gateway key without its token.' });
export type GatewayKey = z.infer<typeof gatewayKey>;

/** The result of create and rotate, the only one that contains the token. */
export const gatewayKeyWithToken = gatewayKey
  .extend({ token: z.string().regex(CHOSEN_TOKEN) })
  .meta({ id: 'GatewayKeyWithToken', description: 'A gateway key with its token, which is shown only once.' });
export type GatewayKeyWithToken = z.infer<typeof gatewayKeyWithToken>;

export const gatewayKeyPage = z
  .strictObject({ items: z.array(gatewayKey) })
  .meta({ id: 'GatewayKeyPage', description: 'The active keys, oldest first.' });
export type GatewayKeyPage = z.infer<typeof gatewayKeyPage>;

export function gatewayKeyOf(row: KeyRow): GatewayKey {
  const { id, org_id, workspace_id, name, description, created_by, role, permissions, plan, managed_by } = row;
  return {
    id,
    org_id,
    workspace_id,
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(created_by === undefined ? {} : { created_by }),
    role,
    permissions: [...permissions],
    ...(plan === undefined ? {} : { plan }),
    created_at: new Date(row.created_at).toISOString(),
    ...(row.last_used_at === undefined ? {} : { last_used_at: new Date(row.last_used_at).toISOString() }),
    ...(managed_by === undefined ? {} : { managed_by }),
  };
}

/** The identity of requests with this key. */
export function identityOf({ id, org_id, workspace_id, role, permissions, plan }: KeyRow): Identity {
  return { org_id, workspace_id, key_id: id, role, permissions: effectivePermissions(role, permissions), plan };
}

/** The scope of the key's exchanges in traces. */
export function keyScope({ id, org_id, workspace_id, role }: KeyRow): ExchangeScope {
  return { org_id, workspace_id, gateway_key_id: id, role };
}

/** The caller that an accepted gateway key identifies: its tenant and the key. Spec: G9.6. */
export interface Identity {
  readonly org_id: string;
  readonly workspace_id: string;
  readonly key_id: string;
  readonly role: string;
  /** Permissions implied by the role and granted to the key. */
  readonly permissions: ReadonlySet<Permission>;
  /** The plan whose per-key thresholds apply instead of the configured defaults. */
  readonly plan: string | undefined;
}
