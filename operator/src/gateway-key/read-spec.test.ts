import { expect, test } from '@jest/globals';
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
  [{ rotation: { interval: '1 day' } }, { reason: 'InvalidSpec', message: expect.stringContaining('spec.rotation.interval') }],
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
