import { Fault } from '@vitrine/faults/fault';
import { operationOf, type Route } from '@vitrine/http-api/route';
import { z } from 'zod';
import { stalledBy, waitingFor, type OperatorState } from './operator-state.ts';

/** Faults of these routes. */
export const PROBE_FAULTS = { statuses: { not_ready: 503, not_live: 503 }, expected: ['not_ready'] };

/** The probes of the kubelet: `/livez` fails when nothing progresses, `/readyz` while the leader waits for something. */
export function probeRoutes(state: () => OperatorState): Route[] {
  const role = z.enum(['leader', 'standby']);
  const readRole = () => (state().isLeading ? 'leader' : 'standby');
  const common = { permission: 'public', status: 200, errors: [503] } as const;
  const live = operationOf()({
    ...common,
    summary: 'Says whether the process makes progress, or should be restarted.',
    response: z.strictObject({ status: z.literal('live'), role }).meta({ id: 'Liveness' }),
    handle: () => {
      const reason = stalledBy(state());
      if (reason !== undefined) throw new Fault('not_live', { say: reason });
      return { status: 'live', role: readRole() };
    },
  });
  const ready = operationOf()({
    ...common,
    summary: 'Says whether the process reconciles, or could take over; or what it waits for.',
    response: z.strictObject({ status: z.literal('ready'), role }).meta({ id: 'Readiness' }),
    handle: () => {
      const reason = waitingFor(state());
      if (reason !== undefined) throw new Fault('not_ready', { say: reason });
      return { status: 'ready', role: readRole() };
    },
  });
  return [
    { path: '/livez', GET: live },
    { path: '/readyz', GET: ready },
  ];
}
