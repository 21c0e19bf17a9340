import { gatewayKeyPage, gatewayKeyWithToken, type GatewayKeyPage } from '@vitrine/gateway-keys/gateway-key';
import { descriptionText, idText, nameText, permissionList, roleText, tokenText } from '@vitrine/gateway-keys/key-fields';
import { z } from 'zod';
import { operation, type AdminRoute } from '../http/admin-route.ts';
import type { GatewayKeys } from '../../auth/keys/gateway-keys.ts';

const BODY = { maxBytes: 65_536, tooLarge: 'request body too large', invalid: 'invalid json body' };

const keyParams = z.object({
  id: z
    .string()
    .regex(/^[A-Za-z0-9\-_.:]{1,128}$/)
    .describe('The id of a gateway key.'),
});

const createBody = z
  .strictObject({
    id: idText.optional().describe('Generated (gk_ and 16 hex digits) when empty; not system or operator.'),
    token: tokenText
      .optional()
      .describe('Generated (sgk_) when empty; else 24 to 256 visible ASCII characters that no key has or ever had.'),
    org_id: idText.optional().describe('Default: that of the caller.'),
    workspace_id: idText.optional(),
    name: nameText.optional(),
    description: descriptionText.optional(),
    role: roleText.optional(),
    permissions: permissionList.optional(),
    plan: z.never({ error: 'is set by the operator, the command line or auth.keys' }).optional(),
  })
  .meta({ id: 'GatewayKeyCreation', description: 'A key to create; every field has a default.' });

const rotateBody = z
  .strictObject({ token: tokenText.optional().describe('Generated when empty; else one that no key has or ever had.') })
  .meta({ id: 'GatewayKeyRotation', description: 'The new token.' });

/** `/api/gateway-keys`. Spec: G2.9 to G2.12, G8.13 to G8.22. */
export function keyRoutes(keys: GatewayKeys): AdminRoute[] {
  const permission = 'keys:manage';
  return [
    {
      path: '/api/gateway-keys',
      GET: operation({
        summary: 'Lists the active gateway keys, oldest first.',
        permission,
        status: 200,
        response: gatewayKeyPage,
        errors: [503],
        handle: async ({ identity }): Promise<GatewayKeyPage> => ({ items: await keys.list(identity) }),
      }),
      POST: operation({
        summary: 'Creates a gateway key and returns its token, only once.',
        permission,
        body: { ...BODY, shape: createBody },
        status: 201,
        response: gatewayKeyWithToken,
        errors: [400, 403, 409, 413, 501, 503],
        handle: ({ body: { plan: _none, ...request }, identity, correlationId }) =>
          keys.create({ identity, correlationId }, request),
      }),
    },
    {
      path: '/api/gateway-keys/:id',
      params: keyParams,
      DELETE: operation({
        summary: 'Revokes a gateway key.',
        permission,
        status: 204,
        errors: [404, 409, 501, 503],
        handle: ({ params, identity, correlationId }) => keys.revoke({ identity, correlationId }, params['id'] ?? ''),
      }),
    },
    {
      path: '/api/gateway-keys/:id/rotate',
      params: keyParams,
      POST: operation({
        summary: 'Replaces the token of a gateway key; the old one is rejected at once.',
        permission,
        body: { ...BODY, shape: rotateBody },
        status: 200,
        response: gatewayKeyWithToken,
        errors: [400, 403, 404, 409, 413, 501, 503],
        handle: ({ params, body, identity, correlationId }) =>
          keys.rotate({ identity, correlationId }, params['id'] ?? '', body.token),
      }),
    },
  ];
}
