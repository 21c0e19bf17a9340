import { expect, test } from '@jest/globals';
import { goldenText } from '@vitrine/testkit/golden-text';
import { stringify } from 'yaml';
import { CUSTOM_RESOURCES } from './custom-resources.ts';
import { customResourceDefinition } from './custom-resources/custom-resource-definition.ts';
import type { CustomResource } from './custom-resources/custom-resource.ts';

const FOLDER = new URL('../../charts/vitrine/templates/crds/', import.meta.url);

/** The chart template of the definition. The value `crds.enabled` switches it off. */
function chartTemplate(resource: CustomResource): string {
  const yaml = stringify(customResourceDefinition(resource), { lineWidth: 0 });
  if (/\{\{|\}\}/.test(yaml)) throw new Error(`a description of ${resource.kind} has braces that Helm would read`);
  return `{{- if .Values.crds.enabled }}\n# Written by npm run golden.\n${yaml}{{- end }}\n`;
}

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
