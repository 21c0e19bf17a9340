import { command, stringOption } from '@vitrine/command-line/command';
import { textTable, formatResult } from '@vitrine/command-line/print-result';
import { readUsageByKey, reconcileUsage, readWorkspaceUsage, type WorkspaceUsage } from '@vitrine/stores/metering/usage-reports';
import { BILLING_UNITS } from '@vitrine/stores/resources/billing';
import { OUTPUT_OPTIONS, secondOf, withStores } from './with-stores.ts';

export const usage = command({
  name: 'usage',
  summary: 'Shows the usage of workspaces in their current billing period.',
  options: { workspace: stringOption('ID', 'only this workspace, with each of its keys'), ...OUTPUT_OPTIONS },
  examples: ['usage', 'usage --workspace ws_0123456789abcdefghjkmnpqrs --format json'],
  run: ({ values }, context) =>
    withStores(values.config, context, async ({ pool, now }) => {
      const items = await readWorkspaceUsage(pool, values.workspace, now);
      const [only] = values.workspace === undefined ? [] : items;
      if (values.workspace !== undefined && only === undefined) {
        context.stderr.write(`store-api: there is no workspace ${values.workspace}; see store-api workspace list\n`);
        return 1;
      }
      const keys = only === undefined ? [] : await readUsageByKey(pool, only.workspace_id, only.starts_at);
      const byKey = keys.map(({ key_id, label, ...used }) => ({ key_id, label, used }));
      const shown = items.map(({ starts_at, ends_at, ...item }) => {
        return { ...item, starts_at: secondOf(starts_at), ends_at: secondOf(ends_at) };
      });
      const result = only === undefined ? { items: shown } : { ...shown[0], by_key: byKey };
      const keyRows = () =>
        byKey.map(({ key_id, label, used }) => [key_id, ...BILLING_UNITS.map((unit) => String(used[unit])), label]);
      const keyTable = () => (byKey.length === 0 ? '' : `\n${textTable(['KEY', ...UNIT_HEADS, 'LABEL'], keyRows())}`);
      context.stdout.write(formatResult(values.format, result, () => usageTable(items) + keyTable()));
      return 0;
    }),
});

export const reconcile = command({
  name: 'reconcile',
  summary: 'Adds up the ledger and compares it with the counters of workspaces and keys; exits with 1 when they differ.',
  options: OUTPUT_OPTIONS,
  help: 'Reads the whole ledger, in one statement: it may run while the service does.',
  examples: ['reconcile'],
  run: ({ values }, context) =>
    withStores(values.config, context, async ({ pool }) => {
      const differences = await reconcileUsage(pool);
      const shown = differences.map(({ starts_at, ...difference }) => ({ ...difference, starts_at: secondOf(starts_at) }));
      const heads = ['WORKSPACE', 'PERIOD', 'UNIT', 'COUNTER', 'KEYS', 'LEDGER'];
      const rows = () =>
        shown.flatMap(({ workspace_id, starts_at, counters, by_key, ledger }) =>
          BILLING_UNITS.filter((unit) => counters[unit] !== ledger[unit] || by_key[unit] !== ledger[unit]).map((unit) => {
            return [workspace_id, starts_at, unit, ...[counters, by_key, ledger].map((counts) => String(counts[unit]))];
          }),
        );
      const none = 'Counters of workspaces and keys equal the ledger.\n';
      const text = () => (shown.length === 0 ? none : textTable(heads, rows()));
      context.stdout.write(formatResult(values.format, { differences: shown }, text));
      return shown.length === 0 ? 0 : 1;
    }),
});

const UNIT_HEADS = BILLING_UNITS.map((unit) => unit.toUpperCase());

function usageTable(items: readonly WorkspaceUsage[]): string {
  if (items.length === 0) return 'There are no workspaces. Create one: store-api workspace create --admin EMAIL\n';
  return textTable(
    ['WORKSPACE', 'PLAN', 'PERIOD', ...UNIT_HEADS, 'NAME'],
    items.map(({ workspace_id, plan, starts_at, ends_at, used, included, name }) => [
      workspace_id,
      plan,
      `${secondOf(starts_at).slice(0, 10)}..${secondOf(ends_at).slice(0, 10)}`,
      ...BILLING_UNITS.map((unit) => (plan === 'partner' ? String(used[unit]) : `${used[unit]}/${included[unit]}`)),
      name,
    ]),
  );
}
