import { command } from '@vitrine/command-line/command';
import { FORMAT_OPTION, formatResult } from '@vitrine/command-line/output-format';
import { tokenText, withKeys } from './with-keys.ts';

export const keysRotate = command({
  name: 'keys rotate',
  summary: 'Replaces the token of a gateway key.',
  usage: 'ID [--format text|json] [--config FILE]',
  help: `  --format json  for programs
  --config FILE  the gateway's configuration

A running gateway rejects the old token about a second later, and after 60 s at most.

Example:
  npm run gateway -- keys rotate gk_0123456789abcdef
`,
  options: FORMAT_OPTION,
  positionals: 1,
  run: ({ values, positionals }, context) => {
    return withKeys(values.config, context, async (of) => {
      const key = await of.keys.rotate(of.actor, positionals[0] ?? '', undefined);
      const text = `Gateway key ${key.id} has a new token.\n`;
      context.stdout.write(formatResult(values.format, key, ({ token }) => text + tokenText(token, of)));
    });
  },
});
