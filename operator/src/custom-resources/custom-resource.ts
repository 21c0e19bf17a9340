import type { z } from 'zod';

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

/** A kind as its CustomResourceDefinition is made from. */
export interface CustomResource {
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortName: string;
  readonly description: string;
  /** Shapes with a description on every field. A rule in CEL is in `x-kubernetes-validations` of a shape's meta. */
  readonly spec: z.ZodObject;
  readonly status: z.ZodObject;
  readonly columns: readonly PrinterColumn[];
  readonly selectableFields?: readonly string[];
  /** Rules of the whole object, such as for its name. */
  readonly rules?: readonly CelRule[];
  readonly isSpecRequired?: boolean;
}

export interface CelRule {
  readonly rule: string;
  readonly message: string;
}

/** The meta of a shape with rules in CEL. */
export function celRules(...rules: readonly CelRule[]): Readonly<Record<string, unknown>> {
  return { 'x-kubernetes-validations': rules };
}
