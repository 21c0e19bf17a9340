import type { ControllerFigures } from '../runtime/controller.ts';
import { z } from 'zod';
import { VERSION } from '../config.ts';

/** A watch without events for this time is broken: bookmarks come every minute. */
const STALE_AFTER_SEC = 90;
/** A pass makes a few requests, each of which ends within 15 s. */
const STUCK_AFTER_SEC = 300;

/** The state of the process. Reading it makes no calls. */
export interface OperatorState {
  /** State of the Lease; a process that does not lead waits for it. */
  readonly isLeading: boolean;
  /** Why the database cannot be used yet. */
  readonly databaseReason: string | undefined;
  /** None before the process leads. */
  readonly controllers: readonly ControllerFigures[];
}

/** Why the process should be restarted; empty while it makes progress. Does not depend on database or API server. */
export function stalledBy({ controllers }: OperatorState): string[] {
  return controllers.flatMap(({ name, watches, queue }) => [
    ...[...watches]
      .filter(([, { staleSeconds = 0 }]) => staleSeconds > STALE_AFTER_SEC)
      .map(([kind, { staleSeconds = 0 }]) => `${name}: nothing was received of ${kind} for ${Math.round(staleSeconds)} s`),
    ...(queue.longestRunningSeconds > STUCK_AFTER_SEC
      ? [`${name}: a worker has been busy for ${Math.round(queue.longestRunningSeconds)} s`]
      : []),
  ]);
}

/** Why the operator is degraded. Each has a heading in docs/failure-modes.md. */
export const HEALTH_REASONS = ['database_unavailable', 'lists_not_read'] as const;

/** What a leader waits for; empty for a standby. */
export function healthReasons({ isLeading, databaseReason, controllers }: OperatorState): (typeof HEALTH_REASONS)[number][] {
  if (!isLeading) return [];
  if (databaseReason !== undefined) return ['database_unavailable'];
  return controllers.every(({ isSynced }) => isSynced) ? [] : ['lists_not_read'];
}

const ROLES = ['leader', 'standby'] as const;

/** Health, which responds with 200 as long as the process does, and says what a leader waits for. */
export function operatorHealth(state: () => OperatorState) {
  return {
    name: 'operator',
    version: VERSION,
    reasons: HEALTH_REASONS,
    degradedBy: () => healthReasons(state()),
    details: { role: z.enum(ROLES) },
    readDetails: () => ({ role: state().isLeading ? ROLES[0] : ROLES[1] }),
  };
}
