import { VERSION } from '../version.ts';
import { command } from './command.ts';
import { FORMAT_OPTION, jsonText, wantsJson } from './output-format.ts';

export const version = command({
  name: 'version',
  summary: 'Prints the version; so does gateway --version.',
  usage: '[--format text|json] [--config FILE]',
  help: `  --format json  for programs
  --config FILE  accepted, and not read

Examples:
  npm run gateway -- version
  npm run -s gateway -- version --format json
`,
  options: { ...FORMAT_OPTION },
  words: 0,
  run: async ({ values }, { stdout }) => {
    stdout.write(wantsJson(values.format) ? jsonText({ version: VERSION }) : `${VERSION}\n`);
    return 0;
  },
});
