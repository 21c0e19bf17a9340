import { Fault } from '@vitrine/faults/fault';
import type { AdminTools } from '../http/admin-app.ts';
import type { AuditTrail } from './audit-trail.ts';
import type { Authenticate, Denial } from './caller.ts';

/** The admin API's door: denials are remembered and become faults. */
export function authorizeBy(authenticate: Authenticate, trail: Pick<AuditTrail, 'denied'>): AdminTools['authorize'] {
  return (request, permission) => {
    const decide = () => authenticate(request.headers, permission);
    const verdict = request.watch === undefined ? decide() : request.watch.authenticate(decide, request.correlationId);
    if (!('status' in verdict)) return verdict.identity;
    trail.denied(request, verdict.caller, verdict.reason);
    throw faultOf(verdict);
  };
}

function faultOf({ reason, error: say }: Denial): Fault {
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
