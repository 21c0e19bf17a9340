import { command } from '@vitrine/command-line/command';
import { FORMAT_OPTION, formatResult } from '@vitrine/command-line/output-format';
import { textTable } from '@vitrine/command-line/text-table';
import { listedPeppers, PEPPER_HEADS, pepperCells, pepperExitCode } from '@vitrine/credentials/listed-peppers';
import { withKeys } from './with-keys.ts';

export const keysPeppers = command({
  name: 'keys peppers',
  summary: 'Lists the peppers, and how many tokens are hashed with each.',
  usage: '[--format text|json] [--config FILE]',
  help: `  --format json  for programs
  --config FILE  the gateway's configuration

A pepper that no token needs can be removed; docs/operations.md says how to rotate one. Exit code 1: some tokens cannot be
verified, because their pepper is missing or has another secret.

Examples:
  npm run gateway -- keys peppers
  npm run gateway -- keys peppers --format json
`,
  options: FORMAT_OPTION,
  run: ({ values }, context) =>
    withKeys(values.config, context, async ({ store, hashes }) => {
      const items = listedPeppers(hashes().identities, await store.storedPeppers());
      context.stdout.write(formatResult(values.format, { items }, () => textTable(PEPPER_HEADS, items.map(pepperCells))));
      return pepperExitCode(items);
    }),
});
