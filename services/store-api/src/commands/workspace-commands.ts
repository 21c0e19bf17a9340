import { command, stringOption } from '@vitrine/command-line/command';
import { textTable, formatResult } from '@vitrine/command-line/print-result';
import { TokenHashes } from '@vitrine/credentials/token-hashes';
import { publicUrlsOf } from '@vitrine/stores/profile/render-profile';
import { planSlug, type PlanSlug } from '@vitrine/stores/resources/enumerations';
import { createLoginToken } from '@vitrine/stores/workspaces/login-links';
import { createWorkspace, listWorkspaces, type Workspace } from '@vitrine/stores/workspaces/workspaces';
import { randomBytes } from 'node:crypto';
import { configWords, OUTPUT_OPTIONS, secondOf, withStores, WORKSPACE_OPTION } from './with-stores.ts';
import { emailOption, textOption, timeSpanOption } from './option-values.ts';

/** How long a login link can be valid. */
const MAX_LINK_MS = 86_400_000;
const PLANS: readonly string[] = planSlug.options;

export const workspaceCreate = command({
  name: 'workspace create',
  summary: 'Creates a workspace and its first admin.',
  options: {
    admin: { ...stringOption('EMAIL', 'its first admin, who invites others'), required: true },
    name: stringOption('TEXT', 'its display name; the part of the address behind the @ unless given'),
    plan: { ...stringOption('PLAN', `${PLANS.join(', ')}; free unless given`), choices: PLANS },
    'gateway-org': stringOption('ID', 'its organisation at the AI traffic gateway; default'),
    'gateway-workspace': stringOption('ID', 'its workspace there; default'),
    ...OUTPUT_OPTIONS,
  },
  help: 'Billing periods begin on the day of the month on which the workspace was created.',
  examples: [
    'workspace create --admin ada@example.com',
    'workspace create --admin ada@example.com --name Acme --plan growth --format json',
  ],
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
  options: OUTPUT_OPTIONS,
  examples: ['workspace list'],
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

/** Spec: S5.13. */
export const loginLink = command({
  name: 'login-link',
  summary: 'Makes a link that signs a member of a workspace in to the console, once.',
  options: {
    workspace: WORKSPACE_OPTION,
    email: { ...stringOption('EMAIL', 'the member'), required: true },
    expires: stringOption('SPAN', 'how long the link can be used, such as 15m (default) or 2h; at most 1d'),
    ...OUTPUT_OPTIONS,
  },
  help: 'The link is a secret, and is shown only here. It leads to public.console_url.',
  examples: ['login-link --workspace ws_0123456789abcdefghjkmnpqrs --email ada@example.com'],
  run: ({ values }, context) => {
    const workspace_id = values.workspace;
    const email = emailOption('--email', values.email);
    const ttlMs = timeSpanOption('--expires', values.expires ?? '15m', MAX_LINK_MS);
    return withStores(values.config, context, async ({ config, pool, logger, now: at }) => {
      const request = { workspace_id, email, at, ttlMs, random: randomBytes };
      const token = await pool.transaction((transaction) =>
        createLoginToken(transaction, new TokenHashes(config.auth.peppers), request),
      );
      if (token === undefined) {
        context.stderr.write(`store-api: ${email} is not a member of workspace ${workspace_id}; see store-api workspace list\n`);
        return 1;
      }
      logger.info({ audit: 'login_link_created', workspace_id, email, expires_at: secondOf(at + ttlMs) }, 'login link created');
      const url = `${publicUrlsOf(config.public).console_url}/login?token=${token.reveal()}`;
      const result = { url, expires_at: new Date(at + ttlMs).toISOString() };
      context.stdout.write(
        formatResult(values.format, result, () => `\n  ${url}\n\nIt signs ${email} in once, until ${secondOf(at + ttlMs)}.\n`),
      );
      return 0;
    });
  },
});
