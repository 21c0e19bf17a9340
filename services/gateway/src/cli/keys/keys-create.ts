import { issueText } from '@vitrine/config/issue-text';
import { Fault } from '@vitrine/faults/fault';
import { descriptionText, idText, nameText, permissionList, roleText } from '@vitrine/gateway-keys/key-fields';
import { PERMISSIONS } from '@vitrine/gateway-keys/permission';
import { z } from 'zod';
import type { NewKeyRequest } from '../../auth/keys/gateway-keys.ts';
import { unknownPlanText } from '../../config/config-rules.ts';
import { planNames, readPlans } from '../../limits/plans/read-plans.ts';
import { command, stringOption } from '@vitrine/command-line/command';
import { formatResult } from '@vitrine/command-line/output-format';
import { OUTPUT_OPTIONS } from '../config/command-config.ts';
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

const PERMISSION_HELP = `granted in addition to those of the role: ${PERMISSIONS.join(', ')}; may be repeated`;

export const keysCreate = command({
  name: 'keys create',
  summary: 'Creates a gateway key and shows its token once.',
  options: {
    role: stringOption('ROLE', 'owner, admin, developer (default), member or viewer'),
    permission: { ...stringOption('P', PERMISSION_HELP), multiple: true },
    org: stringOption('ID', 'organisation; default'),
    workspace: stringOption('ID', 'workspace; default'),
    id: stringOption('ID', "the key's id; generated when not given"),
    name: stringOption('TEXT', 'what to call it'),
    description: stringOption('TEXT', 'what it is for'),
    plan: stringOption('NAME', 'the plan with its limits, of the configuration, Postgres or limits.plans_dir'),
    ...OUTPUT_OPTIONS,
  },
  help: 'The gateway may be running: it accepts the key about a second later.',
  examples: ['keys create --role owner --name first', 'keys create --org acme --workspace search --name ci --format json'],
  run: ({ values }, context) => {
    const { config, format, org: org_id, workspace: workspace_id, permission: permissions, ...fields } = values;
    const request = readRequest({ ...fields, org_id, workspace_id, permissions });
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
