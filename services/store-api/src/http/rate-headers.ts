import type { AuthenticatedKey } from '@vitrine/stores/admission/admit-request';
import { allowanceOf } from '@vitrine/stores/metering/allowance';
import type { UnitCounts } from '@vitrine/stores/resources/billing';
import { secondsOf } from '../admission/key-gate.ts';

/** The headers of every response to a key that is known, as names and values in turn. `used`: of the period, after the request.
 *  Spec: S3.24, S6.20. */
export function rateHeaders({ plan, period, requests_left, window_ends_in_ms }: AuthenticatedKey, used: UnitCounts): string[] {
  const allowance = allowanceOf(plan.slug, plan.limits);
  return [
    'X-RateLimit-Limit',
    String(plan.limits.rpm),
    'X-RateLimit-Remaining',
    String(requests_left),
    'X-RateLimit-Reset',
    String(secondsOf(window_ends_in_ms)),
    // Partners have no allowance that could be left.
    ...(allowance === undefined
      ? []
      : [
          'X-Usage-Remaining',
          String(Math.max(0, allowance.lookup_cached - Math.max(used.lookup_cached, period.used.lookup_cached))),
        ]),
  ];
}
