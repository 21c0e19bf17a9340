import { descriptionText, idText, nameText, roleText } from '@vitrine/gateway-keys/key-fields';
import type { ManagedKeyFields } from '@vitrine/gateway-keys/managed-key';
import { PERMISSIONS, type Permission } from '@vitrine/gateway-keys/permission';
import { DEFAULT_ROLE } from '@vitrine/gateway-keys/role';
import type { Tenant } from '@vitrine/traces/exchange-scope';
import { z } from 'zod';
import { celRules } from '../custom-resources/custom-resource.ts';

/** RFC 1123. */
const objectName = z
  .string()
  .min(1)
  .max(253)
  .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/);
const duration = z
  .string()
  .max(16)
  .regex(/^[0-9]{1,6}(s|m|h)$/);
const plainId = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[A-Za-z0-9_.:-]+$/);
const labels = z.record(z.string(), z.string().max(63));

export const gatewayKeySpec = z
  .object({
    keyId: plainId
      .optional()
      .describe(
        'Id of the key in lists, traces and logs; it can never be used again, also after revocation. Default: gk_ and 16 hexadecimal digits made of the uid of this object.',
      ),
    displayName: z.string().max(256).optional().describe('Name of the key in lists.'),
    description: z.string().max(2_048).optional().describe('Purpose of the key.'),
    role: plainId
      .default(DEFAULT_ROLE)
      .describe(
        'Implies permissions: owner and admin all, developer and member proxy:write and analytics:read, viewer analytics:read; any other role none.',
      ),
    permissions: z
      .array(
        z
          .string()
          .max(64)
          .regex(/^[a-z][a-z-]*:[a-z][a-z-]*$/),
      )
      .max(32)
      .default([])
      .meta({ 'x-kubernetes-list-type': 'set' })
      .describe(
        `Permissions in addition to those that the role implies: ${PERMISSIONS.join(', ')}. An unknown one is refused in the condition Ready.`,
      ),
    plan: z
      .string()
      .min(1)
      .max(63)
      .optional()
      .describe('Plan with the usage limits of this key; without one the configured limits apply.'),
    secretName: objectName
      .optional()
      .describe(
        'Secret of this namespace that receives the token in its key "token". Default: the name of this object and -gateway-key.',
      ),
    secretTemplate: z
      .object({
        labels: labels.optional().describe('Additional labels of the Secret.'),
        annotations: z.record(z.string(), z.string().max(4_096)).optional().describe('Additional annotations of the Secret.'),
      })
      .optional()
      .describe('Metadata of the Secret.'),
    tokenSecretRef: z
      .object({
        name: objectName.describe('Name of the Secret.'),
        key: z
          .string()
          .min(1)
          .max(253)
          .default('token')
          .describe('Key of the Secret that contains the token: 24 to 256 visible ASCII characters without spaces and commas.'),
      })
      .optional()
      .describe('A Secret of this namespace with a token of your own, instead of a generated one. It is read once a minute.'),
    rotation: z
      .object({
        trigger: z
          .string()
          .max(256)
          .optional()
          .describe('Any text. Changing it rotates the token once. The annotation vitrine.dev/rotate does the same.'),
        interval: duration
          .meta(celRules({ rule: "duration(self) >= duration('1h')", message: 'must be at least 1h' }))
          .optional()
          .describe('How often the token is rotated, such as 720h; at least 1h. Default: never.'),
        gracePeriod: duration
          .meta(celRules({ rule: "duration(self) <= duration('24h')", message: 'must be at most 24h' }))
          .default('2m')
          .describe(
            'How long the old token is accepted after a rotation, at most 24h: programs see a changed Secret up to 90 s late.',
          ),
      })
      .optional()
      .describe('When the token is rotated.'),
    deletionPolicy: z
      .enum(['Revoke', 'Orphan'])
      .default('Revoke')
      .describe('Effect of deleting this object: Revoke revokes the key, Orphan keeps key and Secret.'),
    adoptionPolicy: z
      .enum(['Never', 'IfSameTenant'])
      .default('Never')
      .describe('Whether this object may take over a key of its id that was made over REST, if it is of the same tenant.'),
  })
  .meta(
    celRules(
      {
        rule: 'has(self.keyId) == has(oldSelf.keyId) && (!has(self.keyId) || self.keyId == oldSelf.keyId)',
        message: 'keyId is immutable; make another GatewayKey',
      },
      {
        rule: 'has(self.secretName) == has(oldSelf.secretName) && (!has(self.secretName) || self.secretName == oldSelf.secretName)',
        message: 'secretName is immutable; make another GatewayKey',
      },
      {
        rule: 'has(self.tokenSecretRef) == has(oldSelf.tokenSecretRef)',
        message: 'tokenSecretRef can be neither added nor removed; make another GatewayKey',
      },
      {
        rule: '!has(self.tokenSecretRef) || (!has(self.secretName) && !has(self.secretTemplate))',
        message: 'tokenSecretRef excludes secretName and secretTemplate: the Secret is yours',
      },
      {
        rule: '!has(self.tokenSecretRef) || !has(self.rotation) || (!has(self.rotation.trigger) && !has(self.rotation.interval))',
        message: 'tokenSecretRef excludes rotation.trigger and rotation.interval: change the Secret to rotate',
      },
      {
        rule: "!has(self.keyId) || !(self.keyId.lowerAscii() in ['system', 'operator', '.', '..'])",
        message: 'keyId must not be system, operator, . or ..',
      },
    ),
  )
  .describe('The desired key.');
export type GatewayKeySpec = z.output<typeof gatewayKeySpec>;

export type TextField = {
  [Field in keyof GatewayKeySpec]-?: string extends NonNullable<GatewayKeySpec[Field]> ? Field : never;
}[keyof GatewayKeySpec];

/** What the gateway requires of texts that it stores: a credential that was pasted into one must not be shown. A text without an entry does
 *  not compile; undefined where the schema is sufficient. */
export const TEXT_RULES: { readonly [Field in TextField]: z.ZodType | undefined } = {
  keyId: idText,
  displayName: nameText,
  description: descriptionText,
  role: roleText,
  plan: undefined,
  secretName: undefined,
};

/** The row of a key. A field of the row that is left out does not compile. */
export function keyFieldsOf(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  spec: GatewayKeySpec,
  tenant: Tenant,
): ManagedKeyFields {
  return {
    ...tenant,
    name: spec.displayName || name,
    description: spec.description || undefined,
    role: spec.role.toLowerCase(),
    permissions: spec.permissions as readonly Permission[],
    plan: spec.plan,
    managed_resource: `GatewayKey ${namespace}/${name}`,
  };
}
