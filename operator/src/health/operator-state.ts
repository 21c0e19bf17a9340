import type { ControllerFigures } from '../runtime/controller.ts';

/** A kind that nothing was received of for so long is not watched any more: bookmarks come every minute. */
const STALE_AFTER_SEC = 90;
/** A pass makes a few requests, and each of them ends within 15 s. */
const STUCK_AFTER_SEC = 300;

/** What the process does; none of it is read by a call. */
export interface OperatorState {
  /** Of the Lease; a process that does not lead waits for it. */
  readonly isLeading: boolean;
  /** Why the database cannot be used yet. */
  readonly databaseReason: string | undefined;
  /** None before the process leads. */
  readonly controllers: readonly ControllerFigures[];
}

/** Why the process should be restarted; undefined when it makes progress. Neither database nor API server have to be there. */
export function stalledBy({ controllers }: OperatorState): string | undefined {
  for (const { name, watches, queue } of controllers) {
    for (const [kind, { staleSeconds = 0 }] of watches)
      if (staleSeconds > STALE_AFTER_SEC) return `${name}: nothing was received of ${kind} for ${Math.round(staleSeconds)} s`;
    if (queue.longestRunningSeconds > STUCK_AFTER_SEC)
      return `${name}: a worker has been busy for ${Math.round(queue.longestRunningSeconds)} s`;
  }
  return undefined;
}

/** What the process waits for; undefined when it reconciles, or is a standby that may take over. */
export function waitingFor({ isLeading, databaseReason, controllers }: OperatorState): string | undefined {
  if (!isLeading) return undefined;
  if (databaseReason !== undefined) return databaseReason;
  const unsynced = controllers.filter(({ isSynced }) => !isSynced).map(({ name }) => name);
  return unsynced.length === 0 ? undefined : `waiting for the lists of ${unsynced.join(', ')}`;
}
