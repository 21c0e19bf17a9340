import type { GatewayKey } from '@vitrine/gateway-keys/gateway-key';
import { command } from '@vitrine/command-line/command';
import { FORMAT_OPTION, formatResult } from '@vitrine/command-line/output-format';
import { textTable } from '@vitrine/command-line/text-table';
import { withKeys } from './with-keys.ts';

const HEADS = ['ID', 'ORG', 'WORKSPACE', 'ROLE', 'PERMISSIONS', 'PLAN', 'CREATED', 'LAST USED', 'NAME'];

const NO_KEY = 'There are no gateway keys. Create one: gateway keys create --role owner\n';

export const keysList = command({
  name: 'keys list',
  summary: 'Lists the active gateway keys, oldest first.',
  usage: '[--org ID] [--workspace ID] [--format text|json] [--config FILE]',
  help: `  --org ID        only keys of this organisation
  --workspace ID  only keys of this workspace
  --format json   for programs
  --config FILE   the gateway's configuration

Examples:
  npm run gateway -- keys list
  npm run gateway -- keys list --org acme --format json
`,
  options: { org: { type: 'string' }, workspace: { type: 'string' }, ...FORMAT_OPTION },
  run: ({ values }, context) => {
    const { config, format, org, workspace } = values;
    return withKeys(config, context, async ({ keys }) => {
      const items = (await keys.list(undefined)).filter(
        (key) => (org === undefined || key.org_id === org) && (workspace === undefined || key.workspace_id === workspace),
      );
      const isFiltered = org !== undefined || workspace !== undefined;
      const none = isFiltered ? 'There are no gateway keys of that organisation and workspace.\n' : NO_KEY;
      context.stdout.write(formatResult(format, { items }, () => textOf(items, none)));
    });
  },
});

function textOf(items: readonly GatewayKey[], none: string): string {
  if (items.length === 0) return none;
  return textTable(
    HEADS,
    items.map((key) => [
      key.id,
      key.org_id,
      key.workspace_id,
      key.role,
      key.permissions.join(',') || '-',
      key.plan ?? '-',
      secondOf(key.created_at),
      key.last_used_at === undefined ? 'never' : secondOf(key.last_used_at),
      key.name ?? '-',
    ]),
  );
}

function secondOf(moment: string): string {
  return `${moment.slice(0, 19)}Z`;
}
