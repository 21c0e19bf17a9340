import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { PERMISSIONS, type Permission } from '@vitrine/gateway-keys/permission';
import { readFileSync } from 'node:fs';
import { readServedOperations, type ServedOperation } from '../../testing/served-operations.ts';
import { startTestGateway, type TestGateway } from '../../testing/start-test-gateway.ts';

/** What each operation of the admin API asks of its caller. The gateway, this table and docs/reference have to agree. */
const REQUIRED: Readonly<Record<string, Permission | 'public'>> = {
  'GET /': 'public',
  'GET /api/health': 'public',
  'GET /api/openapi.json': 'public',
  'GET /api/diagnostics/trace-pipeline': 'analytics:read',
  'GET /api/traces': 'analytics:read',
  'GET /api/traces/:id': 'analytics:read',
  'GET /api/traces/:id/replay': 'analytics:read',
  'POST /api/traces/:id/fork': 'analytics:read',
  'GET /api/analytics/usage': 'analytics:read',
  'GET /api/analytics/cost': 'analytics:read',
  'GET /api/analytics/models': 'analytics:read',
  'GET /api/analytics/keys': 'analytics:read',
  'GET /api/analytics/latency': 'analytics:read',
  'GET /api/analytics/errors': 'analytics:read',
  'GET /api/analytics/summary': 'analytics:read',
  'GET /api/gateway-keys': 'keys:manage',
  'POST /api/gateway-keys': 'keys:manage',
  'DELETE /api/gateway-keys/:id': 'keys:manage',
  'POST /api/gateway-keys/:id/rotate': 'keys:manage',
  'GET /api/audit-events': 'keys:manage',
};
/** Operations that docs/reference does not number. */
const UNNUMBERED = ['GET /api/audit-events', 'GET /api/openapi.json'];
/** Whether a permission is strong enough for an operation that changes something. Sending requests to providers changes nothing of the gateway. */
const ALLOWS_CHANGES: Readonly<Record<Permission, boolean>> = {
  'proxy:write': false,
  'analytics:read': false,
  'keys:manage': true,
};
/** Operations with another method than GET that change nothing. */
const READ_BY_POST = ['POST /api/traces/:id/fork'];
/** GET routes that are no operations of the API. */
const RAW: Readonly<Record<string, Permission | 'public'>> = {
  'GET /livez': 'public',
  'GET /readyz': 'public',
  'GET /metrics': 'analytics:read',
};

const THIS_TABLE = 'REQUIRED in services/gateway/src/admin/http/permissions.it.test.ts';
/** A key that has this permission and no other one. */
const tokenOf = (permission: Permission) => `${permission.replace(':', '-')}-token-0123456789`;
const YAML = `
auth:
  enabled: true
  keys:
${PERMISSIONS.map((one) => `    - {id: '${one}', token: ${tokenOf(one)}, role: none, permissions: ['${one}']}`).join('\n')}`;

let gateway: TestGateway;
let served: readonly ServedOperation[] = [];
beforeAll(async () => {
  gateway = await startTestGateway({ SVC_PROMETHEUS_ENABLED: 'true' }, YAML);
  served = await readServedOperations(gateway);
});
afterAll(async () => gateway[Symbol.asyncDispose]());

test('every operation asks for the permission that the table names', () => {
  const wrong = served.flatMap(({ name, permission }) => {
    const required = REQUIRED[name];
    if (required === permission) return [];
    return required === undefined
      ? [`${name} is new and asks for ${permission}: add it to ${THIS_TABLE}, and to G2 of docs/reference/gateway.md`]
      : [`${name} asks for ${permission}, but needs ${required} by ${THIS_TABLE}`];
  });
  const names = new Set(served.map(({ name }) => name));
  const gone = Object.keys(REQUIRED).filter((name) => !names.has(name));
  expect([...wrong, ...gone.map((name) => `${name} is not served: remove it from ${THIS_TABLE}`)]).toEqual([]);
});

test('an operation that changes something asks for a permission that allows changes', () => {
  const changing = served.filter(({ name, method }) => method !== 'GET' && !READ_BY_POST.includes(name));
  expect(changing.length).toBeGreaterThanOrEqual(3);
  const weak = changing.filter(({ permission }) => permission === 'public' || !ALLOWS_CHANGES[permission as Permission]);
  expect(weak.map(({ name, permission }) => `${name} changes something, and ${permission} is too weak for that`)).toEqual([]);
});

test('docs/reference names the same permissions', () => {
  const reference = readFileSync(new URL('../../../../../docs/reference/gateway.md', import.meta.url), 'utf8');
  const lines = reference.matchAll(/^- \*\*G2\.\d+\*\* `([A-Z]+) (\S+)`(.*?): (?:`(\w+:\w+)`|public)/gm);
  const documented = [...lines].flatMap(([, method, path = '', names = '', permission = 'public']) => {
    const ends = [...names.matchAll(/`(\w+)`/g)].map(([, end = '']) => end);
    return (ends.length === 0 ? [''] : ends).map((end) => [`${method} ${path}${end}`, permission]);
  });
  const numbered = Object.entries(REQUIRED).filter(([name]) => !UNNUMBERED.includes(name));
  expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(numbered));
});

test('a caller without a key is 401, one without the permission 403, and the permission alone is enough', async () => {
  const wrong: string[] = [];
  for (const [name, required] of Object.entries({ ...REQUIRED, ...RAW }))
    for (const held of [undefined, ...PERMISSIONS]) {
      const [method = '', path = ''] = name.split(' ');
      const response = await fetch(gateway.url + path.replace(':id', '0'.repeat(32)), {
        method,
        headers: held === undefined ? {} : { 'x-svc-gateway-key': tokenOf(held) },
        // Not valid: nothing is changed.
        ...(method === 'POST' && { body: '{' }),
      });
      await response.body?.cancel();
      const refusal = required === 'public' || required === held ? undefined : held === undefined ? 401 : 403;
      const isRight = refusal === undefined ? ![401, 403].includes(response.status) : response.status === refusal;
      if (!isRight) wrong.push(`${name} is ${response.status} for ${held ?? 'no key'}, and needs ${required}`);
    }
  expect(wrong).toEqual([]);
});
