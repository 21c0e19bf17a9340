import type { Route } from '@vitrine/http-api/route';
import { serviceRoutes } from '@vitrine/http-api/service-routes';
import { z } from 'zod';
import { VERSION } from '../version.ts';
import { HEALTH_REASONS, healthReasons, type OperatorState } from './operator-state.ts';

const ROLES = ['leader', 'standby'] as const;

/** Health, which responds with 200 as long as the process does, and says what a leader waits for. */
export function healthRoutes(state: () => OperatorState, uptimeSec: () => number): Route[] {
  return serviceRoutes({
    name: 'operator',
    version: VERSION,
    uptimeSec,
    reasons: HEALTH_REASONS,
    degradedBy: () => healthReasons(state()),
    details: { role: z.enum(ROLES) },
    readDetails: () => ({ role: state().isLeading ? ROLES[0] : ROLES[1] }),
  });
}
