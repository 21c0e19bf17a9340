import { command, stringOption } from '@vitrine/command-line/command';
import { textTable, formatResult } from '@vitrine/command-line/print-result';
import { allowDomain, denyDomain, readDenylist } from '@vitrine/stores/corpus/denylist';
import { OUTPUT_OPTIONS, secondOf, withStores } from './with-stores.ts';
import { domainOf, textOption } from './option-values.ts';

export const denylistAdd = command({
  name: 'denylist add',
  summary: 'Puts a domain on the denylist: it is not scanned, and responses report it as blocked.',
  argument: 'DOMAIN',
  options: { reason: stringOption('TEXT', 'why, for those who read the list'), ...OUTPUT_OPTIONS },
  help: 'The data of the domain stays, and is shown again when the domain is removed from the list.',
  examples: ['denylist add shop.example.org --reason "asked for it on 2026-01-31"'],
  run: ({ values, positionals }, context) => {
    const domain = domainOf(positionals[0] ?? '');
    const reason = textOption('--reason', values.reason ?? 'no reason given');
    return withStores(values.config, context, async ({ pool, logger }) => {
      const added = await denyDomain(pool, domain, reason);
      logger.info({ audit: 'domain_denied', domain, reason }, 'domain denied');
      const text = () => `${domain} ${added ? 'is on the denylist' : 'was on the denylist; its reason is replaced'}.\n`;
      context.stdout.write(formatResult(values.format, { domain, reason, added }, text));
    });
  },
});

export const denylistRemove = command({
  name: 'denylist remove',
  summary: 'Takes a domain from the denylist.',
  argument: 'DOMAIN',
  options: OUTPUT_OPTIONS,
  help: 'Exits with 1 when the domain was not on the list.',
  examples: ['denylist remove shop.example.org'],
  run: ({ values, positionals }, context) => {
    const domain = domainOf(positionals[0] ?? '');
    return withStores(values.config, context, async ({ pool, logger }) => {
      const removed = await allowDomain(pool, domain);
      if (removed) logger.info({ audit: 'domain_allowed', domain }, 'domain allowed');
      const text = () => `${domain} ${removed ? 'is not on the denylist any more' : 'was not on the denylist'}.\n`;
      context.stdout.write(formatResult(values.format, { domain, removed }, text));
      return removed ? 0 : 1;
    });
  },
});

export const denylistList = command({
  name: 'denylist list',
  summary: 'Lists the denylist by domain.',
  options: OUTPUT_OPTIONS,
  examples: ['denylist list'],
  run: ({ values }, context) =>
    withStores(values.config, context, async ({ pool }) => {
      const denied = await readDenylist(pool);
      const items = denied.map((item) => ({ ...item, created_at: secondOf(item.created_at) }));
      const rows = () => items.map(({ domain, reason, created_at }) => [domain, created_at, reason]);
      const text = () => (items.length === 0 ? 'The denylist is empty.\n' : textTable(['DOMAIN', 'SINCE', 'REASON'], rows()));
      context.stdout.write(formatResult(values.format, { items }, text));
    }),
});
