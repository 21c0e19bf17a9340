import type { AuthenticatedKey } from '@vitrine/stores/admission/admit-request';
import { includedUnits } from '@vitrine/stores/default-plan-limits';
import type { KeyUsage } from '@vitrine/stores/metering/usage-reports';
import type { Account, Period, UnitCounts, Usage } from '@vitrine/stores/resources/billing';
import { dateTimeOf } from '@vitrine/stores/resources/enumerations';

/** `GET /v1/account`. Admission has already read all of its data. */
export function accountOf(caller: AuthenticatedKey): Account {
  const { workspace, key, plan } = caller;
  const { limits } = plan;
  return {
    workspace: { id: workspace.id, name: workspace.name },
    key: {
      id: key.id,
      label: key.label,
      prefix: key.prefix,
      environment: key.environment,
      scopes: [...key.scopes],
      expires_at: key.expires_at === null ? null : dateTimeOf(key.expires_at),
    },
    plan: {
      slug: plan.slug,
      limits: {
        rpm: limits.rpm,
        concurrency: limits.concurrency,
        enrich_batch_max: limits.enrichBatchMax,
        freshness_days: limits.freshnessDays,
        history_days: limits.historyDays,
        live_refreshes_per_period: limits.liveRefreshesPerPeriod,
      },
    },
    period: periodOf(caller),
  };
}

/** `GET /v1/usage`. */
export function usageOf(caller: AuthenticatedKey, keys: readonly KeyUsage[]): Usage {
  const by_key = keys.map(({ key_id, label, ...used }) => ({ key_id, label, used: unitsOf(used) }));
  return { period: periodOf(caller), by_key };
}

function periodOf({ period, plan }: AuthenticatedKey): Period {
  return {
    starts_at: dateTimeOf(period.starts_at),
    ends_at: dateTimeOf(period.ends_at),
    included: includedUnits(plan.limits),
    used: unitsOf(period.used),
  };
}

/** Only these fields, in this order. */
function unitsOf({ lookup_cached, lookup_live, history_query, refresh_requested }: UnitCounts): UnitCounts {
  return { lookup_cached, lookup_live, history_query, refresh_requested };
}
