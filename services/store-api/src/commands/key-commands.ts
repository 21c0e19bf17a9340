import type { Transaction } from '@vitrine/postgres/transaction';
import { command, stringOption, usageError } from '@vitrine/command-line/command';
import { textTable, formatResult } from '@vitrine/command-line/print-result';
import { listedPeppers, PEPPER_HEADS, pepperCells, pepperExitCode } from '@vitrine/credentials/listed-peppers';
import { TokenHashes } from '@vitrine/credentials/token-hashes';
import { SCOPES, type Scope } from '@vitrine/stores/resources/enumerations';
import {
  createApiKey,
  listApiKeys,
  MAX_ACTIVE_KEYS,
  revokeApiKey,
  type ApiKey,
  KEY_PRESETS,
  type KeyPreset,
} from '@vitrine/stores/workspaces/api-keys';
import { readStoredPeppers } from '@vitrine/stores/workspaces/stored-peppers';
import { randomBytes } from 'node:crypto';
import { OUTPUT_OPTIONS, secondOf, withStores, WORKSPACE_OPTION } from './with-stores.ts';
import { expiryOption, textOption } from './option-values.ts';

const PRESETS = Object.keys(KEY_PRESETS).map((preset) => preset.replaceAll('_', '-'));
const MAX_EXPIRY_MS = 3_650 * 86_400_000;
const CREATED_BY = 'command line';
const HEADS = ['ID', 'WORKSPACE', 'PREFIX', 'SCOPES', 'CREATED', 'EXPIRES', 'STATE', 'LABEL'];

export const keyCreate = command({
  name: 'key create',
  summary: 'Creates a workspace API key and shows its secret once.',
  options: {
    workspace: WORKSPACE_OPTION,
    label: { ...stringOption('TEXT', 'what it is for'), required: true },
    preset: { ...stringOption('PRESET', PRESETS.join(', ').replace('read-only', '$& (default)')), choices: PRESETS },
    scope: {
      ...stringOption('SCOPE', `instead of a preset: ${SCOPES.join(', ')}; may be repeated`),
      multiple: true,
      choices: SCOPES,
    },
    expires: stringOption('WHEN', 'a date, a date-time, or a time from now such as 90d; never unless given'),
    ...OUTPUT_OPTIONS,
  },
  help: 'The secret is stored nowhere. The key works from the next request on.',
  examples: [
    'key create --workspace ws_0123456789abcdefghjkmnpqrs --label ci',
    'key create --workspace ws_0123456789abcdefghjkmnpqrs --label crm --preset full --expires 90d --format json',
  ],
  run: ({ values }, context) => {
    const request = {
      workspace_id: values.workspace,
      label: textOption('--label', values.label),
      scopes: scopesOf(values.preset, values.scope),
      created_by: CREATED_BY,
      random: randomBytes,
    };
    return withStores(values.config, context, async ({ config, pool, logger, now: at }) => {
      const hashes = new TokenHashes(config.auth.peppers);
      const expires_at = values.expires === undefined ? null : expiryOption('--expires', values.expires, at, MAX_EXPIRY_MS);
      const create = (transaction: Transaction) => createApiKey(transaction, hashes, { ...request, expires_at, at });
      const outcome = await pool.transaction(create);
      if (outcome.kind !== 'created') {
        const reasons = {
          unknown_workspace: `there is no workspace ${request.workspace_id}; see store-api workspace list`,
          key_limit_reached: `the workspace has ${MAX_ACTIVE_KEYS} active keys; revoke those that are not used`,
        };
        context.stderr.write(`store-api: ${reasons[outcome.kind]}\n`);
        return 1;
      }
      logger.info({ audit: 'key_created', ...auditFields(outcome.key) }, 'API key created');
      const secret = outcome.secret.reveal();
      const text = `Key ${outcome.key.id} was created: ${outcome.key.scopes.join(', ')}.\n\n  ${secret}\n
It is shown only once. Send it as Authorization: Bearer <key>.\n`;
      context.stdout.write(formatResult(values.format, { ...listed(outcome.key, at), secret }, () => text));
      return 0;
    });
  },
});

export const keyList = command({
  name: 'key list',
  summary: 'Lists API keys by workspace, those included that were revoked in the last 30 days.',
  options: { workspace: stringOption('ID', 'only keys of this workspace'), ...OUTPUT_OPTIONS },
  examples: ['key list', 'key list --workspace ws_0123456789abcdefghjkmnpqrs --format json'],
  run: ({ values }, context) =>
    withStores(values.config, context, async ({ pool, now }) => {
      const items = (await listApiKeys(pool, values.workspace, now)).map((key) => listed(key, now));
      const rows = () =>
        items.map(({ id, workspace_id, prefix, scopes, created_at, expires_at, state, label }) => [
          id,
          workspace_id,
          prefix,
          scopes.join(','),
          created_at,
          expires_at ?? 'never',
          state,
          label,
        ]);
      const text = () =>
        items.length === 0 ? 'There are no keys. Create one: store-api key create\n' : textTable(HEADS, rows());
      context.stdout.write(formatResult(values.format, { items }, text));
    }),
});

export const keyRevoke = command({
  name: 'key revoke',
  summary: 'Revokes an API key permanently, from its next request on.',
  argument: 'ID',
  options: OUTPUT_OPTIONS,
  examples: ['key revoke key_0123456789abcdefghjkmnpqrs'],
  run: ({ values, positionals: [id = ''] }, context) =>
    withStores(values.config, context, async ({ pool, logger, now }) => {
      const key = await revokeApiKey(pool, id, now);
      if (key === undefined) {
        context.stderr.write(`store-api: there is no key ${id}; see store-api key list\n`);
        return 1;
      }
      logger.info({ audit: 'key_revoked', ...auditFields(key) }, 'API key revoked');
      const text = () => `Key ${id} (${key.prefix}...) is revoked since ${secondOf(key.revoked_at ?? now)}.\n`;
      context.stdout.write(formatResult(values.format, listed(key, now), text));
      return 0;
    }),
});

function scopesOf(preset: string | undefined, scopes: readonly string[] | undefined): readonly Scope[] {
  if (preset !== undefined && scopes !== undefined) throw usageError('--preset and --scope cannot be combined');
  if (scopes !== undefined) return [...new Set(scopes)] as Scope[];
  return KEY_PRESETS[(preset ?? 'read-only').replaceAll('-', '_') as KeyPreset];
}

/** The printed form of a key. */
function listed({ created_at, expires_at, revoked_at, ...key }: ApiKey, now: number) {
  const isExpired = expires_at !== null && expires_at <= now;
  return {
    ...key,
    created_at: secondOf(created_at),
    expires_at: expires_at === null ? null : secondOf(expires_at),
    revoked_at: revoked_at === null ? null : secondOf(revoked_at),
    state: revoked_at === null ? (isExpired ? 'expired' : 'active') : 'revoked',
  };
}

function auditFields({ id, workspace_id, prefix, scopes, label }: ApiKey) {
  return { key_id: id, workspace_id, prefix, scopes, label, by: CREATED_BY };
}

export const keyPeppers = command({
  name: 'key peppers',
  summary: 'Lists the peppers, and how many keys and login links are hashed with each.',
  options: OUTPUT_OPTIONS,
  help: `A pepper that no token has needed for a day can be removed: cursors, which are not counted, are valid for 24 hours.
To rotate one, see docs/operations.md. Exit code 1: some tokens cannot be
verified, because their pepper is missing or has another secret.`,
  examples: ['key peppers', 'key peppers --format json'],
  run: ({ values }, context) =>
    withStores(values.config, context, async ({ config, pool }) => {
      const items = listedPeppers(new TokenHashes(config.auth.peppers).identities, await readStoredPeppers(pool));
      context.stdout.write(formatResult(values.format, { items }, () => textTable(PEPPER_HEADS, items.map(pepperCells))));
      return pepperExitCode(items);
    }),
});
