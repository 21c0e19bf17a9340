import { codeOf, Fault, messageOf } from '@vitrine/faults/fault';
import { AUDIT_ACTIONS, type AuditEventPage, type AuditQuery } from '@vitrine/gateway-keys/audit-event-page';
import type { z } from 'zod';
import { auditFilters, DEFAULT_LIMIT } from '../admin-audit/audit-query.ts';
import { keyFiles } from '../auth/key-files.ts';
import { readKeys } from '../auth/open-keys.ts';
import type { GatewayConfig } from '../config.ts';
import { rangeQuery, readQuery } from '../http/query-shapes.ts';
import { command, usageError } from './command.ts';
import { commandConfig } from './command-config.ts';
import { FORMAT_OPTION, wantsJson } from './output-format.ts';
import { printJson, printText } from './print.ts';
import { TENANT_OPTIONS, tenantFilterOf } from './tenant-options.ts';
import { textTable } from './text-table.ts';
import { wholeNumber } from './whole-number.ts';

const MAX_LIMIT = 10_000;
const HEADS = ['AT', 'OUTCOME', 'ACTION', 'TARGET', 'ACTOR', 'REASON', 'ORG', 'WORKSPACE', 'CORRELATION ID'];

const filterShape = rangeQuery(auditFilters);

export const audit = command({
  name: 'audit',
  summary: 'Lists who changed gateway keys, and who was turned away, newest first.',
  usage:
    '[--from TIME] [--to TIME] [--action NAME] [--outcome NAME] [--actor ID] [--org-id ID] [--workspace-id ID] ' +
    '[--limit N] [--cursor TEXT] [--format text|json] [--config FILE]',
  help: `  --from TIME        not before: RFC 3339, or YYYY-MM-DD for the first moment of a day (UTC)
  --to TIME          not after: RFC 3339, or YYYY-MM-DD for its last
  --action NAME      only this: ${AUDIT_ACTIONS.join(', ')}
  --outcome NAME     only what was allowed (allow), or denied (deny)
  --actor ID         only what this key did; system is the command line
  --org-id ID        only events of this organisation
  --workspace-id ID  only events of this workspace
  --limit N          how many to list, 1 to ${MAX_LIMIT}; ${DEFAULT_LIMIT}
  --cursor TEXT      go on where a list ended
  --format json      for programs: the same as GET /api/audit-events
  --config FILE      the gateway's configuration

The events of all tenants are shown, and those of callers who were unknown, which belong to no tenant. The key database is read beside a
gateway that may be running; what was denied in the last second may be missing.

Examples:
  npm run gateway -- audit
  npm run gateway -- audit --outcome deny --from 2026-02-01
  npm run gateway -- audit --action gateway_key.revoke --org-id acme --limit 10
  npm run -s gateway -- audit --actor gk_0123456789abcdef --format json
`,
  options: {
    from: { type: 'string' },
    to: { type: 'string' },
    action: { type: 'string' },
    outcome: { type: 'string' },
    actor: { type: 'string' },
    limit: { type: 'string' },
    cursor: { type: 'string' },
    ...TENANT_OPTIONS,
    ...FORMAT_OPTION,
  },
  words: 0,
  run: async ({ values }, context) => {
    const isJson = wantsJson(values.format);
    const limit = wholeNumber('--limit', values.limit, 1, MAX_LIMIT) ?? DEFAULT_LIMIT;
    const { cursor: after, ...filters } = filtersOf(values);
    const query = { ...filters, ...tenantFilterOf(values), limit, after };
    const page = await readEvents(commandConfig(values.config, context), query);
    if (isJson) printJson(context, page);
    else printText(context, textOf(page));
    return 0;
  },
});

/** The same rules as the admin API's. */
function filtersOf(values: Readonly<Record<string, unknown>>): z.infer<typeof filterShape> {
  const { from, to, action, outcome, actor, cursor } = values;
  const asked = { from, to, action, outcome, actor, cursor };
  const empty = Object.entries(asked).find(([, value]) => value === '');
  if (empty !== undefined) throw usageError(`--${empty[0]} must not be empty`);
  try {
    return readQuery(filterShape, asked);
  } catch (error) {
    throw codeOf(error) === 'invalid_query' ? usageError(messageOf(error)) : error;
  }
}

/** Faults: `storage_unusable` when nothing was ever stored, `key_store_unavailable`. */
async function readEvents(config: GatewayConfig, query: AuditQuery): Promise<AuditEventPage> {
  const page = await readKeys(config, (reader) => reader.listAudit(query));
  if (page !== undefined) return page;
  const path = keyFiles(config.storage.path).database;
  throw new Fault('storage_unusable', {
    say: `${path} is not there: no gateway has kept keys or audit events beside its traces`,
  });
}

function textOf({ items, next_cursor: cursor }: AuditEventPage): string {
  if (items.length === 0) return 'No audit event was found.\n';
  const rows = items.map((one) =>
    [one.at, one.outcome, one.action, one.target, one.actor, one.reason, one.org_id, one.workspace_id, one.correlation_id].map(
      (cell) => cell || '-',
    ),
  );
  const more = cursor === undefined ? '' : `\nThere are more: raise --limit, or go on with --cursor ${cursor}\n`;
  return textTable(HEADS, rows) + more;
}
