import { command } from '@vitrine/command-line/command';
import { FORMAT_OPTION, formatResult } from '@vitrine/command-line/output-format';
import { textTable } from '@vitrine/command-line/text-table';
import { planSlug, type PlanSlug } from '@vitrine/stores/resources/enumerations';
import { createWorkspace, listWorkspaces, type Workspace } from '@vitrine/stores/workspaces/workspaces';
import { randomBytes } from 'node:crypto';
import { emailOption, textOption } from './command-values.ts';
import { configWords, secondOf, withStores } from './with-stores.ts';

const PLANS: readonly string[] = planSlug.options;

export const workspaceCreate = command({
  name: 'workspace create',
  summary: 'Creates a workspace and its first admin.',
  usage:
    '--admin EMAIL [--name TEXT] [--plan PLAN] [--gateway-org ID] [--gateway-workspace ID] [--format text|json] [--config FILE]',
  help: `  --admin EMAIL           its first admin, who invites others
  --name TEXT             what people call it; the part of the address behind the @ unless given
  --plan PLAN             ${PLANS.join(', ')}; free unless given
  --gateway-org ID        its organisation at the AI traffic gateway; default
  --gateway-workspace ID  its workspace there; default
  --format json           for programs
  --config FILE           the store API's configuration

Billing periods begin on the day of the month on which the workspace was created.

Examples:
  npm run store-api -- workspace create --admin ada@example.com
  npm run store-api -- workspace create --admin ada@example.com --name Acme --plan growth --format json
`,
  options: {
    admin: { type: 'string' },
    name: { type: 'string' },
    plan: { type: 'string', choices: PLANS },
    'gateway-org': { type: 'string' },
    'gateway-workspace': { type: 'string' },
    ...FORMAT_OPTION,
  },
  run: ({ values }, context) => {
    const { config, format, plan = 'free', 'gateway-org': org = 'default', 'gateway-workspace': gateway = 'default' } = values;
    const admin = emailOption('--admin', values.admin);
    const request = {
      name: textOption('--name', values.name ?? admin.slice(admin.indexOf('@') + 1)),
      plan: plan as PlanSlug,
      admin_email: admin,
      gateway_org_id: textOption('--gateway-org', org),
      gateway_workspace_id: textOption('--gateway-workspace', gateway),
      random: randomBytes,
    };
    return withStores(config, context, async ({ pool, logger, now }) => {
      const workspace = await pool.transaction((transaction) => createWorkspace(transaction, { ...request, at: now }));
      logger.info({ audit: 'workspace_created', workspace_id: workspace.id, plan: workspace.plan, admin }, 'workspace created');
      const text = `Workspace ${workspace.id} (${workspace.name}) was created with the plan ${workspace.plan}; its admin is ${admin}.
A key for it:  npm run store-api -- key create --workspace ${workspace.id} --label first${configWords(config)}
`;
      context.stdout.write(formatResult(format, { ...listed(workspace), admin_email: admin }, () => text));
    });
  },
});

export const workspaceList = command({
  name: 'workspace list',
  summary: 'Lists all workspaces, oldest first.',
  usage: '[--format text|json] [--config FILE]',
  help: `  --format json  for programs
  --config FILE  the store API's configuration

Example:
  npm run store-api -- workspace list
`,
  options: FORMAT_OPTION,
  run: ({ values }, context) =>
    withStores(values.config, context, async ({ pool }) => {
      const items = (await listWorkspaces(pool)).map(listed);
      const rows = () =>
        items.map(({ id, name, plan, anchor_day, admins, created_at }) => {
          return [id, name, plan, String(anchor_day), admins.join(','), created_at];
        });
      const none = 'There are no workspaces. Create one: store-api workspace create --admin EMAIL\n';
      const text = () => (items.length === 0 ? none : textTable(['ID', 'NAME', 'PLAN', 'DAY', 'ADMINS', 'CREATED'], rows()));
      context.stdout.write(formatResult(values.format, { items }, text));
    }),
});

function listed<W extends Workspace>({ created_at, ...workspace }: W) {
  return { ...workspace, created_at: secondOf(created_at) };
}
