import { z } from 'zod';
import { MAX_CONDITION_MESSAGE } from '../runtime/conditions.ts';

export const GROUP = 'vitrine.dev';
export const API_VERSION = `${GROUP}/v1alpha1`;
export const CATEGORY = 'vitrine';

/** A column of `kubectl get`; one of priority 1 is in `-o wide` only. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'date';
  readonly jsonPath: string;
  readonly description: string;
  readonly priority?: 0 | 1;
}

/** The source of a kind's CustomResourceDefinition. */
export interface CustomResource {
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortName: string;
  readonly description: string;
  /** Schemas with a description on every field. CEL rules are in `x-kubernetes-validations` of a schema's meta. */
  readonly spec: z.ZodObject;
  readonly status: z.ZodObject;
  readonly columns: readonly PrinterColumn[];
  readonly selectableFields?: readonly string[];
  /** Rules of the whole object, such as for its name. */
  readonly rules?: readonly CelRule[];
  readonly isSpecRequired?: boolean;
}

interface CelRule {
  readonly rule: string;
  readonly message: string;
}

/** The meta of a schema with CEL rules. */
export function celRules(...rules: readonly CelRule[]): Readonly<Record<string, unknown>> {
  return { 'x-kubernetes-validations': rules };
}

/** The status of every kind. `types`: those that its conditions have. */
export function statusShape(types: string) {
  const condition = z.object({
    type: z.string().max(64).describe(`${types}.`),
    status: z.enum(['True', 'False', 'Unknown']).describe('Status of the condition.'),
    reason: z.string().max(64).describe('Reason of the status, for programs.'),
    message: z.string().max(MAX_CONDITION_MESSAGE).describe('Cause of the status, and what to change.'),
    observedGeneration: z.int().describe('The generation of the object that the condition describes.'),
    lastTransitionTime: z.string().meta({ format: 'date-time' }).describe('When the status last changed.'),
  });
  return z.object({
    observedGeneration: z.int().optional().describe('The generation that was reconciled last.'),
    conditions: z
      .array(condition)
      .max(16)
      .optional()
      .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] })
      .describe('Conditions of the object.'),
  });
}
