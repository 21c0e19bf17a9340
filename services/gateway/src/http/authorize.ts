import { Fault } from '@vitrine/faults/fault';
import type { AdminContext } from './admin-app.ts';
import type { AuditTrail } from '../auth/audit-trail.ts';
import type { Authenticate, RejectedCaller } from '../auth/caller.ts';

/** Authorizes requests of the admin API: denials are audited and thrown as faults. */
export function authorizeBy(authenticate: Authenticate, trail: Pick<AuditTrail, 'denied'>): AdminContext['authorize'] {
  return (request, permission) => {
    const decide = () => authenticate(request.headers, permission);
    const verdict = request.telemetry === undefined ? decide() : request.telemetry.authenticate(decide, request.correlationId);
    if (!('rejection' in verdict)) return verdict.identity;
    trail.denied(request, verdict.caller, verdict.rejection.reason);
    throw faultOf(verdict.rejection);
  };
}

function faultOf({ reason, error: say }: RejectedCaller['rejection']): Fault {
  switch (reason) {
    case 'unauthorized':
      return new Fault('unauthorized', { say });
    case 'forbidden':
      return new Fault('forbidden', { say });
    case 'key_verification_unavailable':
      return new Fault('key_verification_unavailable', { say });
    default: {
      const unexpected: never = reason;
      return unexpected;
    }
  }
}
