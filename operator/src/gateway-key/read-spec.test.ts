import { expect, test } from '@jest/globals';
import { isConditionReason } from './observed-key.ts';
import { readSpec } from './read-spec.ts';

const object = (spec: Readonly<Record<string, unknown>>) => ({
  metadata: { name: 'ci', namespace: 'team-a', uid: 'u', resourceVersion: '1', generation: 1 },
  spec,
});

test.each<readonly [spec: Readonly<Record<string, unknown>>, expected: object]>([
  [{}, { permissions: [] }],
  [
    { secretTemplate: { annotations: { 'example.com/team': 'a' } } },
    { secretTemplate: { annotations: { 'example.com/team': 'a' } } },
  ],
  [{ permissions: ['no:such'] }, { reason: 'InvalidPermission' }],
  [
    { rotation: { interval: '1 day' } },
    { reason: 'InvalidSpec', message: expect.stringContaining('spec.rotation.interval: must match /') },
  ],
  [{ role: 7 }, { reason: 'InvalidSpec', message: 'spec.role: must be a string, not a number' }],
  ...['rotated-at', 'rotate', 'rotation-trigger'].map((name): [Readonly<Record<string, unknown>>, object] => [
    { secretTemplate: { annotations: { [`vitrine.dev/${name}`]: 'x' } } },
    {
      reason: 'InvalidSpec',
      message: expect.stringContaining(`spec.secretTemplate.annotations: vitrine.dev/${name} is written by the operator`),
    },
  ]),
])('%j', (spec, expected) => {
  expect(readSpec(object(spec))).toMatchObject(expected);
});

test('a name that is not valid for a Secret is refused unless the spec has one', () => {
  const long = { ...object({}).metadata, name: 'k'.repeat(242) };
  expect(readSpec({ ...object({}), metadata: long })).toMatchObject({
    reason: 'InvalidSpec',
    message: expect.stringContaining('metadata.name: too long'),
  });
  expect(readSpec({ ...object({ secretName: 'short' }), metadata: long })).toMatchObject({ secretName: 'short' });
});

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
