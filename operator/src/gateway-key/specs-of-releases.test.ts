import { expect, test } from '@jest/globals';
import { readSpec } from './read-spec.ts';
import { isConditionReason } from './observed-key.ts';

// Objects that a release accepted are in clusters. A rule that becomes stricter is for new objects only (a CEL rule with `oldSelf`), or
// the operator keeps reading the old form. Rows are added to this table, and none is removed.

const SPECS: readonly (readonly [string, object])[] = [
  ['0.1.0', {}],
  ['0.1.0', { keyId: 'A.b:c-d_0', displayName: '', description: '', role: 'Custom.Role:1', permissions: [], plan: 'any plan' }],
  ['0.1.0', { role: 'OWNER', permissions: ['proxy:write', 'analytics:read', 'keys:manage'] }],
  ['0.1.0', { secretName: 'a..b', secretTemplate: { labels: { 'not a label': '-' }, annotations: { a: '' } } }],
  ['0.1.0', { tokenSecretRef: { name: 'x.y', key: 'any key' } }],
  ['0.1.0', { rotation: { trigger: '', interval: '999999h', gracePeriod: '0s' } }],
  ['0.1.0', { rotation: {}, deletionPolicy: 'Orphan', adoptionPolicy: 'IfSameTenant', ofAnotherRelease: 1 }],
];

test.each(SPECS)('a spec that release %s accepted is still read: %j', (_, spec) => {
  const read = readSpec({ metadata: { name: 'ci', namespace: 'a', uid: 'u', resourceVersion: '1', generation: 1 }, spec });
  expect(isConditionReason(read) ? read.message : 'read').toBe('read');
});
