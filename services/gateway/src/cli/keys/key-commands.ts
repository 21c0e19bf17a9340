import { command, stringOption } from '@vitrine/command-line/command';
import { formatResult } from '@vitrine/command-line/output-format';
import { textTable } from '@vitrine/command-line/text-table';
import { listedPeppers, PEPPER_HEADS, pepperCells, pepperExitCode } from '@vitrine/credentials/listed-peppers';
import type { GatewayKey } from '@vitrine/gateway-keys/gateway-key';
import { OUTPUT_OPTIONS } from '../config/command-config.ts';
import { tokenText, withKeys } from './with-keys.ts';

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
  help: `A pepper that no token needs can be removed; docs/operations.md says how to rotate one. Exit code 1: some tokens cannot be
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
