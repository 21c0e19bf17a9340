import { Fault } from '@vitrine/faults/fault';
import { AUDIT_ACTIONS, type AuditEventPage, type AuditQuery } from '@vitrine/gateway-keys/audit-event-page';
import { auditFilters, DEFAULT_LIMIT } from '../../admin/audit/audit-route.ts';
import { keyFiles } from '../../auth/keys/key-files.ts';
import { readKeys } from '../../auth/keys/open-key-store.ts';
import type { GatewayConfig } from '../../config.ts';
import { rangeQuery } from '@vitrine/http-api/requests/query-shapes';
import { command, stringOption } from '@vitrine/command-line/command';
import { textTable, formatOption, printResult } from '@vitrine/command-line/print-result';
import { wholeNumberOption } from '@vitrine/command-line/option-values';
import { commandConfig, CONFIG_OPTION } from '../config/command-config.ts';
import { queryOptions, RANGE_OPTIONS, tenantFilterOf, tenantOptions } from '../query-options.ts';

const MAX_LIMIT = 10_000;
const HEADS = ['AT', 'OUTCOME', 'ACTION', 'TARGET', 'ACTOR', 'REASON', 'ORG', 'WORKSPACE', 'CORRELATION ID'];

const filterShape = rangeQuery(auditFilters);

export const audit = command({
  name: 'audit',
  summary: 'Lists changes of gateway keys and denied requests, newest first.',
  options: {
    ...RANGE_OPTIONS,
    action: stringOption('NAME', `only this action: ${AUDIT_ACTIONS.join(', ')}`),
    outcome: stringOption('NAME', 'only allowed actions (allow), or denied ones (deny)'),
    actor: stringOption('ID', 'only actions of this key; system is the command line'),
    ...tenantOptions('events'),
    limit: stringOption('N', `number of events, 1 to ${MAX_LIMIT}; ${DEFAULT_LIMIT}`),
    cursor: stringOption('TEXT', 'continue where a list ended'),
    format: formatOption('for programs: the same as GET /api/audit-events'),
    ...CONFIG_OPTION,
  },
  help: `Events of all tenants are shown, and those of unknown callers, which belong to no tenant. A gateway may be running; denials of the last
second may be missing.`,
  examples: [
    'audit',
    'audit --outcome deny --from 2026-02-01',
    'audit --action gateway_key.revoke --org-id acme --limit 10',
    'audit --actor gk_0123456789abcdef --format json',
  ],
  run: async ({ values }, context) => {
    const limit = wholeNumberOption('--limit', values.limit, 1, MAX_LIMIT) ?? DEFAULT_LIMIT;
    const { from, to, action, outcome, actor, cursor } = values;
    const { cursor: after, ...filters } = queryOptions(filterShape, { from, to, action, outcome, actor, cursor });
    const query = { ...filters, ...tenantFilterOf(values), limit, after };
    const page = await readEvents(commandConfig(values.config, context), query);
    printResult(context, values.format, page, textOf);
    return 0;
  },
});

/** Faults: `storage_unusable` when there is no store yet, `key_store_unavailable`. */
async function readEvents(config: GatewayConfig, query: AuditQuery): Promise<AuditEventPage> {
  const page = await readKeys(config.storage, (reader) => reader.listAudit(query));
  if (page !== undefined) return page;
  const path = keyFiles(config.storage.path).database;
  throw new Fault('storage_unusable', { say: `${path} does not exist: no gateway has stored keys or audit events there` });
}

function textOf({ items, next_cursor: cursor }: AuditEventPage): string {
  if (items.length === 0) return 'No audit events found.\n';
  const rows = items.map((one) =>
    [one.at, one.outcome, one.action, one.target, one.actor, one.reason, one.org_id, one.workspace_id, one.correlation_id].map(
      (cell) => cell || '-',
    ),
  );
  const more = cursor === undefined ? '' : `\nThere are more: raise --limit, or continue with --cursor ${cursor}\n`;
  return textTable(HEADS, rows) + more;
}
