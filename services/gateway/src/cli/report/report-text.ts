import { wholeMs } from '@vitrine/traces/whole-ms';
import { isKnownTenant } from '../offline-traces/tenant-filter.ts';
import { textTable } from '@vitrine/command-line/print-result';
import type { UsageReport } from './usage-report.ts';

/** The text of `gateway report`. */
export function reportText(report: UsageReport): string {
  const { filters, summary, storage } = report;
  const applied = (['org_id', 'workspace_id', 'provider', 'model', 'from', 'to'] as const).flatMap((name) =>
    filters[name] === undefined ? [] : [`${name} ${filters[name]}`],
  );
  const tables: readonly (readonly [string, readonly string[], readonly string[][]])[] = [
    [
      'Providers',
      ['PROVIDER', 'INPUT', 'OUTPUT', 'TOKENS', 'COST USD', 'AT MOST', 'UNPRICED', 'ESTIMATED', 'NO USAGE'],
      report.providers.map((row) => [
        row.provider,
        ...[row.input_tokens, row.output_tokens, row.total_tokens].map(String),
        ...costCells(row),
      ]),
    ],
    [
      'Models',
      ['MODEL', 'REQUESTS', 'LATENCY', 'FIRST TOKEN', 'TOKENS', 'COST USD', 'AT MOST', 'UNPRICED', 'ESTIMATED', 'NO USAGE'],
      report.models.map((row) => [
        row.model,
        String(row.request_count),
        `${wholeMs(row.avg_latency_ms * 1_000)} ms`,
        row.avg_ttft_ms === 0 ? '-' : `${wholeMs(row.avg_ttft_ms * 1_000)} ms`,
        String(row.total_tokens),
        ...costCells(row),
      ]),
    ],
    [
      'Provider credentials',
      ['SHA-256', 'REQUESTS', 'TOKENS', 'COST USD', 'AT MOST', 'UNPRICED', 'ESTIMATED', 'NO USAGE', 'LAST ACTIVE'],
      report.api_keys.map((row) => [
        row.api_key_hash,
        String(row.request_count),
        String(row.total_tokens),
        ...costCells(row),
        row.last_active_at ?? '-',
      ]),
    ],
    [
      'Newest traces',
      ['TRACE', 'STARTED', 'PROVIDER', 'MODEL', 'STATUS', 'TOKENS', 'COST USD', 'COST', 'LATENCY', 'PATH'],
      report.recent_traces.map((row) => [
        row.id,
        row.timestamp,
        row.provider,
        row.model,
        String(row.response_status),
        String(row.total_tokens),
        dollars(row.estimated_cost_usd),
        row.cost_status,
        `${row.latency_ms} ms`,
        row.request_path,
      ]),
    ],
  ];
  return [
    `Usage in ${storage.path}${applied.length === 0 ? '' : ` (${applied.join(', ')})`}\n\n`,
    `requests ${summary.total_requests}, tokens ${summary.total_tokens} (input ${summary.total_input_tokens}, ` +
      `output ${summary.total_output_tokens}), cost ${dollars(summary.total_cost_usd)} USD${unknownText(summary)}, ` +
      `provider credentials ${summary.active_keys}\n`,
    tenantText(report),
    ...tables.flatMap(([title, heads, rows]) => (rows.length === 0 ? [] : [`\n${title}\n`, textTable(heads, rows)])),
  ].join('');
}

type Costs = Pick<
  UsageReport['summary'],
  'total_cost_usd' | 'total_cost_upper_usd' | 'unpriced_requests' | 'estimated_requests' | 'missing_usage_requests'
>;

/** The known cost, its upper bound, and how many requests are not in it. */
function costCells(row: Costs): string[] {
  const unknown = [row.unpriced_requests, row.estimated_requests, row.missing_usage_requests];
  return [dollars(row.total_cost_usd), dollars(row.total_cost_upper_usd), ...unknown.map(String)];
}

function unknownText(summary: Costs): string {
  const { unpriced_requests: unpriced, estimated_requests: estimated, missing_usage_requests: missing } = summary;
  if (unpriced + estimated + missing === 0) return '';
  const counts = `unpriced ${unpriced}, estimated ${estimated}, without usage ${missing}`;
  return ` (at most ${dollars(summary.total_cost_upper_usd)}; requests of unknown cost: ${counts})`;
}

/** The tenants of the report. */
function tenantText({ tenants, tenant_count: count, tenants_total: total }: UsageReport): string {
  if (count === 0) return total === 0 ? '' : `No tenant of ${total} matches.\n`;
  const names = tenants.map((tenant) => (isKnownTenant(tenant) ? `${tenant.org_id}/${tenant.workspace_id}` : 'no tenant'));
  const more = count > names.length ? `, and ${count - names.length} more` : '';
  const which = count === 1 ? 'Tenant' : count === total ? `All ${total} tenants` : `${count} of ${total} tenants`;
  return `${which}: ${names.join(', ')}${more}\n`;
}

function dollars(amount: number): string {
  return amount.toFixed(6);
}
