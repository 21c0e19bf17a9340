import { expect, test } from '@jest/globals';
import { effectivePermissions } from './role.ts';

test.each([
  ['owner', ['proxy:write', 'analytics:read', 'keys:manage']],
  ['admin', ['proxy:write', 'analytics:read', 'keys:manage']],
  ['developer', ['proxy:write', 'analytics:read']],
  ['member', ['proxy:write', 'analytics:read']],
  ['viewer', ['analytics:read']],
  ['robot', []],
  ['', []],
])('%s implies %j, and grants are added', (role, implied) => {
  expect([...effectivePermissions(role, [])]).toEqual(implied);
  expect(effectivePermissions(role, ['keys:manage'])).toEqual(new Set([...implied, 'keys:manage']));
});
