import { command, stringOption, type CommandContext } from '@vitrine/command-line/command';
import { textTable, formatResult } from '@vitrine/command-line/print-result';
import { listedPeppers, PEPPER_HEADS, pepperCells, pepperExitCode } from '@vitrine/credentials/listed-peppers';
import type { GatewayKey } from '@vitrine/gateway-keys/gateway-key';
import { OUTPUT_OPTIONS, commandConfig } from '../config/command-config.ts';
import { issueText } from '@vitrine/config/issue-text';
import { Fault } from '@vitrine/faults/fault';
import { descriptionText, idText, nameText, permissionList, roleText } from '@vitrine/gateway-keys/key-fields';
import { PERMISSIONS } from '@vitrine/gateway-keys/permission';
import { KNOWN_ROLES } from '@vitrine/gateway-keys/role';
import { z } from 'zod';
import type { NewKeyRequest, GatewayKeys, KeyActor } from '../../auth/keys/gateway-keys.ts';
import { unknownPlanText } from '../../config/config-rules.ts';
import { planNames, readPlans } from '../../limits/plans/read-plans.ts';
import type { TokenHashes } from '@vitrine/credentials/token-hashes';
import type { KeyStore } from '@vitrine/gateway-keys/key-store';
import { createLogger } from '@vitrine/telemetry/logger';
import { newCorrelationId } from '@vitrine/http-api/correlation-id';
import { openKeys } from '../../auth/keys/open-keys.ts';
import { readClock } from '../../storage/clocks.ts';
import type { GatewayConfig } from '../../config.ts';

const HEADS = ['ID', 'ORG', 'WORKSPACE', 'ROLE', 'PERMISSIONS', 'PLAN', 'CREATED', 'LAST USED', 'NAME'];

const NO_KEY = 'There are no gateway keys. Create one: gateway keys create --role owner\n';

export const keysList = command({
  name: 'keys list',
  summary: 'Lists the active gateway keys, oldest first.',
  options: {
    org: stringOption('ID', 'only keys of this organisation'),
    workspace: stringOption('ID', 'only keys of this workspace'),
    ...OUTPUT_OPTIONS,
  },
  examples: ['keys list', 'keys list --org acme --format json'],
  run: ({ values }, context) => {
    const { config, format, org, workspace } = values;
    return withKeys(config, context, async ({ keys }) => {
      const items = (await keys.list(undefined)).filter(
        (key) => (org === undefined || key.org_id === org) && (workspace === undefined || key.workspace_id === workspace),
      );
      const isFiltered = org !== undefined || workspace !== undefined;
      const none = isFiltered ? 'There are no gateway keys of that organisation and workspace.\n' : NO_KEY;
      context.stdout.write(formatResult(format, { items }, () => listText(items, none)));
    });
  },
});

export const keysRevoke = command({
  name: 'keys revoke',
  summary: 'Revokes a gateway key permanently.',
  argument: 'ID',
  options: OUTPUT_OPTIONS,
  help: 'A running gateway rejects the key about a second later, and after 60 s at most. Its id is never used again.',
  examples: ['keys revoke gk_0123456789abcdef'],
  run: ({ values, positionals: [id = ''] }, context) =>
    withKeys(values.config, context, async ({ keys, actor }) => {
      await keys.revoke(actor, id);
      context.stdout.write(formatResult(values.format, { id, revoked: true }, () => `Gateway key ${id} is revoked.\n`));
    }),
});

export const keysRotate = command({
  name: 'keys rotate',
  summary: 'Replaces the token of a gateway key.',
  argument: 'ID',
  options: OUTPUT_OPTIONS,
  help: 'A running gateway rejects the old token about a second later, and after 60 s at most.',
  examples: ['keys rotate gk_0123456789abcdef'],
  run: ({ values, positionals: [id = ''] }, context) =>
    withKeys(values.config, context, async (of) => {
      const key = await of.keys.rotate(of.actor, id, undefined);
      const text = `Gateway key ${key.id} has a new token.\n`;
      context.stdout.write(formatResult(values.format, key, ({ token }) => text + tokenText(token, of)));
    }),
});

export const keysPeppers = command({
  name: 'keys peppers',
  summary: 'Lists the peppers, and how many tokens are hashed with each.',
  options: OUTPUT_OPTIONS,
  help: `A pepper that no token needs can be removed; to rotate one, see docs/operations.md. Exit code 1: some tokens cannot be
verified, because their pepper is missing or has another secret.`,
  examples: ['keys peppers', 'keys peppers --format json'],
  run: ({ values }, context) =>
    withKeys(values.config, context, async ({ store, hashes }) => {
      const items = listedPeppers(hashes().identities, await store.storedPeppers());
      context.stdout.write(formatResult(values.format, { items }, () => textTable(PEPPER_HEADS, items.map(pepperCells))));
      return pepperExitCode(items);
    }),
});

function listText(items: readonly GatewayKey[], none: string): string {
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
    name: stringOption('TEXT', 'a name for people'),
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
      if (!KNOWN_ROLES.includes(key.role)) context.stderr.write(unknownRoleText(key.role));
      const text = `Gateway key ${key.id} was created: ${key.role} of ${key.org_id}/${key.workspace_id}.\n`;
      context.stdout.write(formatResult(format, key, ({ token }) => text + tokenText(token, of)));
    });
  },
});

/** Any role is accepted, but a misspelt one grants nothing. */
function unknownRoleText(role: string): string {
  const known = `${KNOWN_ROLES.slice(0, -1).join(', ')} and ${KNOWN_ROLES.at(-1)}`;
  return `warning: the role "${role}" grants no permission by itself, only those of --permission; ${known} do\n`;
}

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

/** The resources of a command that reads or changes gateway keys. */
interface KeyCommand {
  readonly config: GatewayConfig;
  readonly keys: GatewayKeys;
  readonly store: KeyStore;
  readonly hashes: () => TokenHashes;
  /** The command line may change all keys. */
  readonly actor: KeyActor;
  /** Where the keys are stored. */
  readonly place: string;
}

/** Runs `work` with the keys of the configured gateway, which may be running: both use the same store. Resolves to the exit code: that of
 *  `work`, or 0.
 *  Faults: those of `GatewayKeys` and of the configuration, `pepper_unusable`, `storage_unusable`. */
async function withKeys(
  configOption: string | undefined,
  context: CommandContext,
  work: (of: KeyCommand) => Promise<number | void>,
): Promise<number> {
  const config = commandConfig(configOption, context);
  // Changes are audited in the store; log lines would mix with the output of the command.
  const logger = createLogger('svc-gateway', 'silent', context.stderr);
  await using opened = await openKeys(config, logger, { clock: await readClock(config.storage, logger) });
  const actor: KeyActor = { identity: undefined, correlationId: newCorrelationId() };
  const { keys, store, place, material } = opened;
  return (await work({ config, keys, store, hashes: () => material().hashes, actor, place })) ?? 0;
}

/** Shows a token, which is not stored. */
function tokenText(token: string, { config, place }: Pick<KeyCommand, 'config' | 'place'>): string {
  const off = config.auth.enabled ? '' : 'The gateway does not require keys yet: set auth.enabled (SVC_AUTH_ENABLED) to true.\n';
  return `\n  ${token}\n\nIt is shown only once. Send it in the header ${config.auth.header}. The key is stored in ${place}.\n${off}`;
}
