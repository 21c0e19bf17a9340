import { command } from '@vitrine/command-line/command';
import { FORMAT_OPTION, formatResult } from '@vitrine/command-line/output-format';
import { withKeys } from './with-keys.ts';

export const keysRevoke = command({
  name: 'keys revoke',
  summary: 'Revokes a gateway key permanently.',
  usage: 'ID [--format text|json] [--config FILE]',
  help: `  --format json  for programs
  --config FILE  the gateway's configuration

A running gateway rejects the key about a second later, and after 60 s at most. Its id is never used again.

Example:
  npm run gateway -- keys revoke gk_0123456789abcdef
`,
  options: FORMAT_OPTION,
  positionals: 1,
  run: ({ values, positionals }, context) => {
    const id = positionals[0] ?? '';
    return withKeys(values.config, context, async ({ keys, actor }) => {
      await keys.revoke(actor, id);
      context.stdout.write(formatResult(values.format, { id, revoked: true }, () => `Gateway key ${id} is revoked.\n`));
    });
  },
});
