import { z } from 'zod';
import { MAX_CONDITION_MESSAGE } from '../runtime/conditions.ts';

/** The status of every kind. `types`: those that its conditions have. */
export function statusShape(types: string): z.ZodObject<{
  observedGeneration: z.ZodOptional<z.ZodInt>;
  conditions: z.ZodOptional<z.ZodArray<z.ZodObject>>;
}> {
  const condition = z.object({
    type: z.string().max(64).describe(`${types}.`),
    status: z.enum(['True', 'False', 'Unknown']).describe('Whether it holds.'),
    reason: z.string().max(64).describe('Why, as a word for programs.'),
    message: z.string().max(MAX_CONDITION_MESSAGE).describe('Why, and what to change.'),
    observedGeneration: z.int().describe('The generation of the object that it is about.'),
    lastTransitionTime: z.string().meta({ format: 'date-time' }).describe('When the status became what it is.'),
  });
  return z.object({
    observedGeneration: z.int().optional().describe('The generation that was reconciled last.'),
    conditions: z
      .array(condition)
      .max(16)
      .optional()
      .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] })
      .describe('What holds of the object.'),
  });
}
