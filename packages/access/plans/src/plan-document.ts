import { issuePaths, issueText } from '@vitrine/config/issue-text';
import { Fault, messageOf } from '@vitrine/faults/fault';
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { planLimits, planName, type PlanLimits } from './plan-limits.ts';

/** Plans in memory and in a ConfigMap, whose size limit is 1 MiB. */
export const MAX_PLANS = 1_000;
/** Faults that a message names; the others are counted. */
const MAX_NAMED_FAULTS = 5;

/** All plans at one generation. */
export interface PlanDocument {
  /** Higher than that of every earlier state of the plans. */
  readonly generation: number;
  /** Checksum of `plans`, equal in every process with the same plans. */
  readonly checksum: string;
  readonly plans: Readonly<Record<string, PlanLimits>>;
}

const plansShape = z
  .record(planName, planLimits)
  .refine((plans) => Object.keys(plans).length <= MAX_PLANS, `must be at most ${MAX_PLANS} plans`);
const documentShape = z.strictObject({
  generation: z.int().min(0),
  checksum: z.string(),
  plans: z.record(z.string(), z.unknown()),
});

/** The document of plans as they are stored. Faults: `invalid_plans`. */
export function planDocument(generation: number, plans: Readonly<Record<string, unknown>>): PlanDocument {
  const valid = checked(plansShape, plans, ['plans']);
  return { generation, checksum: checksumOf(valid), plans: valid };
}

/** The content of `plans.json`. Line breaks and order are fixed, so that equal plans make equal texts. */
export function planDocumentText({ generation, checksum, plans }: PlanDocument): string {
  return `${JSON.stringify({ generation, checksum, plans: sorted(plans) }, undefined, 2)}\n`;
}

/** Parses the output of `planDocumentText`. Faults: `invalid_plans`. */
export function readPlanDocument(text: string): PlanDocument {
  const { generation, checksum, plans } = checked(documentShape, parsed(text), []);
  const document = planDocument(generation, plans);
  if (document.checksum !== checksum)
    throw invalidPlans(
      `checksum: is ${checksum}, but that of plans is ${document.checksum}; plans were changed or are incomplete`,
    );
  return document;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalidPlans(`not JSON: ${messageOf(error)}`);
  }
}

function checked<S extends z.ZodType>(shape: S, value: unknown, at: readonly PropertyKey[]): z.output<S> {
  const result = shape.safeParse(value, { error: issueText });
  if (result.success) return result.data;
  const faults = result.error.issues.flatMap((issue) =>
    issuePaths(issue).map((path) => `${[...at, ...path].join('.')}: ${issue.message}`),
  );
  const more = faults.length > MAX_NAMED_FAULTS ? [`and ${faults.length - MAX_NAMED_FAULTS} more`] : [];
  throw invalidPlans([...faults.slice(0, MAX_NAMED_FAULTS), ...more].join('; '));
}

function invalidPlans(reason: string): Fault {
  return new Fault('invalid_plans', { say: reason });
}

function checksumOf(plans: unknown): string {
  return `sha256:${createHash('sha256')
    .update(JSON.stringify(sorted(plans)))
    .digest('hex')}`;
}

/** The same value with the keys of every object sorted. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
}
