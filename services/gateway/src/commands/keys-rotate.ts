import { command } from './command.ts';
import { FORMAT_OPTION, jsonText, wantsJson } from './output-format.ts';
import { tokenText, withKeys } from './with-keys.ts';

export const keysRotate = command({
  name: 'keys rotate',
  summary: 'Gives a gateway key a new token and ends the old one.',
  usage: 'ID [--format text|json] [--config FILE]',
  help: `  --format json  for programs
  --config FILE  the gateway's configuration

A gateway that is running refuses the old token about a second later, and within 60 s whatever happens.

Example:
  npm run gateway -- keys rotate gk_0123456789abcdef
`,
  options: { ...FORMAT_OPTION },
  words: 1,
  run: ({ values, words }, context) => {
    const isJson = wantsJson(values.format);
    return withKeys(values.config, context, async (of) => {
      const key = await of.keys.rotate(of.actor, words[0] ?? '', undefined);
      context.stdout.write(isJson ? jsonText(key) : `Gateway key ${key.id} has a new token.\n${tokenText(key.token, of)}`);
    });
  },
});
