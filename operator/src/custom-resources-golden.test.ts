import { expect, test } from '@jest/globals';
import { goldenText } from '@vitrine/testkit/golden-text';
import { CUSTOM_RESOURCES } from './app.ts';
import { chartTemplate, customResourceDefinition } from './custom-resources/custom-resource-definition.ts';

const FOLDER = new URL('../../charts/vitrine/templates/crds/', import.meta.url);

test.each(CUSTOM_RESOURCES.map((resource) => [resource.kind, resource] as const))(
  'the chart has the definition of %s; npm run golden rewrites it',
  (_, resource) => {
    const file = new URL(`${resource.plural}.yaml`, FOLDER);
    const text = chartTemplate(resource);
    expect(text).toBe(goldenText(file, text));
  },
);

/** Every field of a schema, as its path, with whether it has a description. */
function undescribed(schema: unknown, path: string): string[] {
  const {
    properties = {},
    items,
    description,
  } = schema as {
    properties?: Record<string, unknown>;
    items?: unknown;
    description?: string;
  };
  const own = description === undefined && !path.endsWith('metadata') && !path.endsWith('[]') ? [path] : [];
  const inner = Object.entries(properties).flatMap(([name, one]) => undescribed(one, `${path}.${name}`));
  return [...own, ...inner, ...(items === undefined ? [] : undescribed(items, `${path}[]`))];
}

test.each(CUSTOM_RESOURCES)('kubectl explain has a description for every field of $kind', (resource) => {
  const { versions } = customResourceDefinition(resource)['spec'] as {
    versions: { schema: { openAPIV3Schema: unknown } }[];
  };
  expect(undescribed(versions[0]?.schema.openAPIV3Schema, resource.kind)).toEqual([]);
});
