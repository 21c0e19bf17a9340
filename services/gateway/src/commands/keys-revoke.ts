import { command } from './command.ts';
import { FORMAT_OPTION, jsonText, wantsJson } from './output-format.ts';
import { withKeys } from './with-keys.ts';

export const keysRevoke = command({
  name: 'keys revoke',
  summary: 'Ends a gateway key for ever.',
  usage: 'ID [--format text|json] [--config FILE]',
  help: `  --format json  for programs
  --config FILE  the gateway's configuration

A gateway that is running refuses the key about a second later, and within 60 s whatever happens. Its id is never used again.

Example:
  npm run gateway -- keys revoke gk_0123456789abcdef
`,
  options: { ...FORMAT_OPTION },
  words: 1,
  run: ({ values, words }, context) => {
    const isJson = wantsJson(values.format);
    const id = words[0] ?? '';
    return withKeys(values.config, context, async ({ keys, actor }) => {
      await keys.revoke(actor, id);
      context.stdout.write(isJson ? jsonText({ id, revoked: true }) : `Gateway key ${id} is revoked.\n`);
    });
  },
});
