import type { ServerResponse } from 'node:http';
import type { RawRoute } from './api-app.ts';

/** Why a process should get no requests now. Every condition is local to the process. A readiness check that called another server would make all
 *  replicas unready at once when that server is unavailable. */
export class Readiness<Condition extends string = never> {
  readonly #conditions: Readonly<Record<Condition, () => boolean>>;
  #isShuttingDown = false;

  /** `conditions`: the process is not ready while any of them is true. */
  constructor(conditions: Readonly<Record<Condition, () => boolean>>) {
    this.#conditions = conditions;
  }

  /** The active conditions; none when the process is ready. */
  get reasons(): readonly (Condition | 'shutting_down')[] {
    const names = Object.keys(this.#conditions) as Condition[];
    const holding = names.filter((name) => this.#conditions[name]());
    return this.#isShuttingDown ? [...holding, 'shutting_down'] : holding;
  }

  /** From now on the process is not ready. */
  shutDown(): void {
    this.#isShuttingDown = true;
  }
}

export interface Probes {
  readonly readiness: Pick<Readiness<string>, 'reasons'>;
  /** Why the process should be restarted; empty while it makes progress. */
  readonly stalledBy?: () => readonly string[];
}

/** The probes of a load balancer or the kubelet, which every service serves at the same paths: `/livez` fails when the process makes no progress,
 *  `/readyz` when it should get no requests. Both respond from memory. */
export function probeRoutes({ readiness, stalledBy = () => [] }: Probes): RawRoute[] {
  return [
    { path: '/livez', permission: 'public', respond: async (_, response) => respond(response, 'live', stalledBy()) },
    { path: '/readyz', permission: 'public', respond: async (_, response) => respond(response, 'ready', readiness.reasons) },
  ];
}

function respond(response: ServerResponse, status: 'live' | 'ready', reasons: readonly string[]): void {
  const body = JSON.stringify(reasons.length === 0 ? { status } : { status: `not_${status}`, reasons });
  response.writeHead(reasons.length === 0 ? 200 : 503, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
  });
  // Node sends no body in response to HEAD.
  response.end(body);
}
