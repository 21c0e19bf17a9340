/** Why a running gateway is degraded. Each has a heading in docs/failure-modes.md. Spec: G3.4. */
export const HEALTH_REASONS = [
  'writes_failing',
  'queue_saturated',
  'keys_not_refreshed',
  'pepper_mismatch',
  'database_unavailable',
  'broker_unavailable',
  'topic_missing',
] as const;
export type HealthReason = (typeof HEALTH_REASONS)[number];

/** What is looked at; none of it waits for anything. */
interface HealthState {
  readonly writes: { readonly isFailing: boolean };
  readonly queue: { readonly isSaturated: boolean };
  readonly auth: { readonly isRefreshFailing: () => boolean; readonly pepperProblem: () => object | undefined };
  readonly traces: {
    readonly isDatabaseFailing: () => boolean;
    readonly publisher: { readonly figures: { readonly failedBy: string | undefined } } | undefined;
  };
}

/** Why the gateway is degraded now; nothing when it is not. */
export function healthReasons({ writes, queue, auth, traces }: HealthState): HealthReason[] {
  const failedBy = traces.publisher?.figures.failedBy;
  const holds: Readonly<Record<HealthReason, boolean>> = {
    writes_failing: writes.isFailing,
    queue_saturated: queue.isSaturated,
    keys_not_refreshed: auth.isRefreshFailing(),
    pepper_mismatch: auth.pepperProblem() !== undefined,
    database_unavailable: traces.isDatabaseFailing(),
    broker_unavailable: failedBy !== undefined && failedBy !== 'topic',
    topic_missing: failedBy === 'topic',
  };
  return HEALTH_REASONS.filter((reason) => holds[reason]);
}
