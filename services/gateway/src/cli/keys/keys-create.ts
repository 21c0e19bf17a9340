import { issueText } from '@vitrine/config/issue-text';
import { Fault } from '@vitrine/faults/fault';
import { descriptionText, idText, nameText, permissionList, roleText } from '@vitrine/gateway-keys/key-fields';
import { PERMISSIONS } from '@vitrine/gateway-keys/permission';
import { z } from 'zod';
import type { NewKeyRequest } from '../../auth/keys/gateway-keys.ts';
import { unknownPlanText } from '../../config/config-rules.ts';
import { planNames, readPlans } from '../../limits/plans/read-plans.ts';
import { command } from '@vitrine/command-line/command';
import { FORMAT_OPTION, formatResult } from '@vitrine/command-line/output-format';
import { tokenText, withKeys } from './with-keys.ts';

const requestShape = z.object({
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
  summary: 'Creates a gateway key and shows its token once.',
  usage:
    '[--role ROLE] [--permission P]... [--org ID] [--workspace ID] [--id ID] [--name TEXT] [--description TEXT] [--plan NAME] ' +
    '[--format text|json] [--config FILE]',
  help: `  --role ROLE         owner, admin, developer (default), member or viewer
  --permission P      granted in addition to those of the role: ${PERMISSIONS.join(', ')}; may be repeated
  --org ID            organisation; default
  --workspace ID      workspace; default
  --id ID             the key's id; generated when not given
  --name TEXT         what to call it
  --description TEXT  what it is for
  --plan NAME         the plan with its limits, of the configuration, Postgres or limits.plans_dir
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
  run: ({ values }, context) => {
    const { config, format, org: org_id, workspace: workspace_id, permission: permissions } = values;
    const { id, name, description, role, plan } = values;
    const request = readRequest({ org_id, workspace_id, permissions, id, name, description, role, plan });
    return withKeys(config, context, async (of) => {
      if (request.plan !== undefined) rejectUnknownPlan(request.plan, planNames(of.config.plans, await readPlans(of.config)));
      const key = await of.keys.create(of.actor, request);
      const text = `Gateway key ${key.id} was created: ${key.role} of ${key.org_id}/${key.workspace_id}.\n`;
      context.stdout.write(formatResult(format, key, ({ token }) => text + tokenText(token, of)));
    });
  },
});

/** Every request of a key with an unknown plan would be rejected. */
function rejectUnknownPlan(plan: string, known: readonly string[]): void {
  if (plan === '' || known.includes(plan)) return;
  throw new Fault('invalid_body', { say: `--plan: ${unknownPlanText(plan, known)}` });
}

function readRequest(input: Record<string, unknown>): NewKeyRequest {
  const parsed = requestShape.safeParse(input, { error: issueText });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = String(issue?.path[0] ?? '');
  throw new Fault('invalid_body', { say: `${FIELD_OPTIONS[field] ?? `--${field}`}: ${issue?.message ?? ''}` });
}
