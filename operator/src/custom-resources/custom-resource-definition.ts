import { stringify } from 'yaml';
import { z } from 'zod';
import { CATEGORY, GROUP, type CustomResource } from './custom-resource.ts';

type Json = Readonly<Record<string, unknown>>;

/** Keywords of JSON Schema that a structural schema may not have. The bounds of safe integers are redundant. */
const DROPPED = ['$schema', 'additionalProperties', 'id'];
const INTEGER_BOUNDS = [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER];

/** The CustomResourceDefinition of a kind, in the format of apiextensions.k8s.io/v1. */
export function customResourceDefinition(resource: CustomResource): Json {
  const { kind, plural, singular, shortName, columns, description } = resource;
  const { selectableFields = [], rules = [], isSpecRequired = false } = resource;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${GROUP}`,
      annotations: { 'helm.sh/resource-policy': 'keep' },
      labels: { 'app.kubernetes.io/part-of': 'vitrine' },
    },
    spec: {
      group: GROUP,
      names: { kind, listKind: `${kind}List`, plural, singular, shortNames: [shortName], categories: [CATEGORY] },
      scope: 'Namespaced',
      versions: [
        {
          name: 'v1alpha1',
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: columns,
          ...(selectableFields.length > 0 && { selectableFields: selectableFields.map((jsonPath) => ({ jsonPath })) }),
          schema: {
            openAPIV3Schema: {
              type: 'object',
              description,
              ...(isSpecRequired && { required: ['spec'] }),
              ...(rules.length > 0 && { 'x-kubernetes-validations': rules }),
              properties: {
                apiVersion: { type: 'string', description: 'Version of the schema of this object.' },
                kind: { type: 'string', description: 'Kind of this object.' },
                metadata: { type: 'object' },
                // Without a default, rules of the spec could not detect its removal.
                spec: isSpecRequired ? structural(resource.spec) : { default: {}, ...structural(resource.spec) },
                status: structural(resource.status),
              },
            },
          },
        },
      ],
    },
  };
}

/** The definitions of kinds as documents of YAML. */
export function definitionsText(resources: readonly CustomResource[]): string {
  return resources.map((resource) => `---\n${stringify(customResourceDefinition(resource), { lineWidth: 0 })}`).join('');
}

function structural(shape: z.ZodObject): Json {
  return cleaned(z.toJSONSchema(shape, { io: 'input', target: 'openapi-3.0' })) as Json;
}

function cleaned(schema: unknown, isProperties = false): unknown {
  if (Array.isArray(schema)) return schema.map((one) => cleaned(one));
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema).filter(([key, value]) => isProperties || isKept(key, value));
  const kept = Object.fromEntries(
    entries.map(([key, value]) => [key, key.startsWith('x-') ? value : cleaned(value, key === 'properties')]),
  );
  return kept['type'] === 'integer' && !isProperties ? { ...kept, format: 'int64' } : kept;
}

function isKept(key: string, value: unknown): boolean {
  // A map of labels is described by its additional properties; an object's own are closed by pruning.
  if (key === 'additionalProperties') return typeof value === 'object' && Object.keys(value ?? {}).length > 0;
  if (key === 'propertyNames') return false;
  return !DROPPED.includes(key) && !((key === 'maximum' || key === 'minimum') && INTEGER_BOUNDS.includes(value as number));
}
