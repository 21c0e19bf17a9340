/** Limit of the definitions. A longer message would make the API server refuse the whole status. */
export const MAX_CONDITION_MESSAGE = 2_048;

/** Of `status.conditions`, a list with one entry for each type. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  /** A machine-readable word, such as `TenantNotMapped`. */
  readonly reason: string;
  /** Human-readable: the problem and the required change. */
  readonly message: string;
  /** The generation of the spec that the condition is about. */
  readonly observedGeneration: number;
  readonly lastTransitionTime: string;
}

/** Reason and message of a condition. */
export type ConditionReason = Pick<Condition, 'reason' | 'message'>;

export type WantedCondition = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

/** The readable conditions of a status. The definitions guarantee their schema, but an object stored before them may not match it. */
export function readConditions(status: { readonly conditions?: unknown } | undefined): readonly Condition[] {
  const { conditions } = status ?? {};
  if (!Array.isArray(conditions)) return [];
  return conditions.filter((one: unknown): one is Condition => typeof one === 'object' && one !== null);
}

/** The conditions to write: exactly the wanted ones, each with the time of its last transition. `now`: RFC 3339. */
export function updateConditions(
  before: readonly Condition[],
  wanted: readonly WantedCondition[],
  observedGeneration: number,
  now: string,
): Condition[] {
  return wanted.map((condition) => {
    const last = before.find(({ type }) => type === condition.type);
    const lastTransitionTime = last?.status === condition.status ? last.lastTransitionTime : now;
    const message = condition.message.slice(0, MAX_CONDITION_MESSAGE);
    return { ...condition, message, observedGeneration, lastTransitionTime };
  });
}

/** Whether the status or reason of the condition has changed. */
export function isTransition(before: readonly Condition[], wanted: WantedCondition): boolean {
  const last = before.find(({ type }) => type === wanted.type);
  return last?.status !== wanted.status || last.reason !== wanted.reason;
}
