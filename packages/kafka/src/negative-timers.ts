import { createRequire } from 'node:module';

/** What is used of kafkajs' private queue of requests; its version is pinned, and a test with a real broker fails when this is no
 *  longer where the timer is set. */
interface RequestQueue {
  readonly pending: readonly unknown[];
  scheduleCheckPendingRequests: (this: RequestQueue) => void;
}

let isPatched = false;

/** kafkajs 2.2.4 sets a timer after each response, also when no request is pending; its delay is then negative, for which Node prints
 *  `TimeoutNegativeWarning`. Without a pending request there is nothing to schedule: adding one schedules again. */
export function avoidNegativeTimers(): void {
  if (isPatched) return;
  isPatched = true;
  const require = createRequire(import.meta.url);
  const { prototype } = require('kafkajs/src/network/requestQueue/index.js') as { prototype: RequestQueue };
  const schedule = prototype.scheduleCheckPendingRequests;
  prototype.scheduleCheckPendingRequests = function scheduleWhenPending(this: RequestQueue): void {
    if (this.pending.length > 0) schedule.call(this);
  };
}
