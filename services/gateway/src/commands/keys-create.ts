import { issueText } from '@vitrine/config/issue-text';
import { Fault } from '@vitrine/faults/fault';
import { descriptionText, idText, nameText, permissionList, roleText } from '@vitrine/gateway-keys/key-fields';
import { PERMISSIONS } from '@vitrine/gateway-keys/permission';
import { z } from 'zod';
import type { NewKeyRequest } from '../admin-keys/gateway-keys.ts';
import { command } from './command.ts';
import { FORMAT_OPTION, jsonText, wantsJson } from './output-format.ts';
import { tokenText, withKeys } from './with-keys.ts';

const wishShape = z.object({
  id: idText.optional(),
  org_id: idText.optional(),
  workspace_id: idText.optional(),
  name: nameText.optional(),
  description: descriptionText.optional(),
  role: roleText.optional(),
  permissions: permissionList.optional(),
  plan: idText.optional(),
});

const FIELD_OPTIONS: Readonly<Record<string, string>> = {
  org_id: '--org',
  workspace_id: '--workspace',
  permissions: '--permission',
};

export const keysCreate = command({
  name: 'keys create',
  summary: 'Makes a gateway key and shows its token, this once.',
  usage:
    '[--role ROLE] [--permission P]... [--org ID] [--workspace ID] [--id ID] [--name TEXT] [--description TEXT] [--plan NAME] ' +
    '[--format text|json] [--config FILE]',
  help: `  --role ROLE         owner, admin, developer (default), member or viewer
  --permission P      granted beside what the role implies: ${PERMISSIONS.join(', ')}; may be repeated
  --org ID            organisation; default
  --workspace ID      workspace; default
  --id ID             the key's id; generated when not given
  --name TEXT         what to call it
  --description TEXT  what it is for
  --plan NAME         the plan whose thresholds bind it: one of plans in the configuration
  --format json       for programs
  --config FILE       the gateway's configuration

The gateway may be running: it accepts the key about a second later.

Examples:
  npm run gateway -- keys create --role owner --name first
  npm run gateway -- keys create --org acme --workspace search --name ci --format json
`,
  options: {
    role: { type: 'string' },
    permission: { type: 'string', multiple: true },
    org: { type: 'string' },
    workspace: { type: 'string' },
    id: { type: 'string' },
    name: { type: 'string' },
    description: { type: 'string' },
    plan: { type: 'string' },
    ...FORMAT_OPTION,
  },
  words: 0,
  run: ({ values }, context) => {
    const isJson = wantsJson(values.format);
    const { config, org: org_id, workspace: workspace_id, permission: permissions, id, name, description, role, plan } = values;
    const wish = readWish({ org_id, workspace_id, permissions, id, name, description, role, plan });
    return withKeys(config, context, async (of) => {
      refuseUnknownPlan(wish.plan, Object.keys(of.config.plans));
      const made = await of.keys.create(of.actor, wish);
      const whose = `${made.role} of ${made.org_id}/${made.workspace_id}`;
      context.stdout.write(isJson ? jsonText(made) : `Gateway key ${made.id} was made: ${whose}.\n${tokenText(made.token, of)}`);
    });
  },
});

/** Every request of a key whose plan is not configured would be refused. */
function refuseUnknownPlan(plan: string | undefined, configured: readonly string[]): void {
  if (plan === undefined || plan === '' || configured.includes(plan)) return;
  const there = configured.length === 0 ? 'none is configured under plans' : `there are ${configured.join(', ')}`;
  throw new Fault('invalid_body', { say: `--plan: there is no plan ${plan}; ${there}` });
}

function readWish(input: Record<string, unknown>): NewKeyRequest {
  const parsed = wishShape.safeParse(input, { error: issueText });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = String(issue?.path[0] ?? '');
  throw new Fault('invalid_body', { say: `${FIELD_OPTIONS[field] ?? `--${field}`}: ${issue?.message ?? ''}` });
}
