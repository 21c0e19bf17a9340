import { Fault } from '@vitrine/faults/fault';
import { z } from 'zod';
import { operationOf, type Operation } from './route.ts';

export interface Probe {
  readonly status: 'live' | 'ready';
  readonly summary: string;
  /** Why it fails; undefined while it does not. */
  readonly failure: () => string | undefined;
}

/** A probe of the kubelet: 200 with its status, or 503 with the reason. Faults, to which the service gives 503: `not_live`, `not_ready`. */
export function probeOperation({ status, summary, failure }: Probe): Operation {
  const id = status === 'live' ? 'Liveness' : 'Readiness';
  return operationOf()({
    summary,
    permission: 'public',
    status: 200,
    response: z.strictObject({ status: z.literal(status) }).meta({ id }),
    errors: [503],
    handle: () => {
      const reason = failure();
      if (reason === undefined) return { status };
      throw status === 'live' ? new Fault('not_live', { say: reason }) : new Fault('not_ready', { say: reason });
    },
  });
}
