import { Fault } from '@vitrine/faults/fault';
import type { IncomingHttpHeaders } from 'node:http';
import type { AdminContext } from './admin-app.ts';
import type { AuditTrail } from '../../auth/audit/audit-trail.ts';
import type { Authenticate, RejectedCaller } from '../../auth/caller.ts';

/** Authorizes requests of the admin API: denials are audited and thrown as faults. */
export function authorizeBy(authenticate: Authenticate, trail: Pick<AuditTrail, 'denied'>): AdminContext['authorize'] {
  return (request, permission) => {
    const decide = () => authenticate(request.headers, permission);
    const verdict = request.telemetry === undefined ? decide() : request.telemetry.authenticate(decide, request.correlationId);
    if (!('rejection' in verdict)) {
      // Without authentication any page that a browser shows could change keys.
      if (verdict.identity === undefined && changesSomething(request) && isForeign(request.headers)) {
        trail.denied(request, verdict, 'forbidden');
        throw new Fault('origin_not_allowed', { say: 'origin not allowed' });
      }
      return verdict.identity;
    }
    trail.denied(request, verdict.caller, verdict.rejection.reason);
    throw faultOf(verdict.rejection);
  };
}

function changesSomething({ method }: { readonly method: string }): boolean {
  return !['GET', 'HEAD', 'OPTIONS'].includes(method);
}

/** Whether a page of another host sends the request. */
function isForeign({ origin, host }: IncomingHttpHeaders): boolean {
  return origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== host?.toLowerCase());
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
