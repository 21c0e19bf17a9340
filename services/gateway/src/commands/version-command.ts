import { VERSION } from '../version.ts';
import { command } from './command.ts';

export const version = command({
  name: 'version',
  summary: 'Prints the version.',
  usage: '',
  help: `Example:
  npm run gateway -- version
`,
  options: {},
  words: 0,
  run: async (_given, { stdout }) => {
    stdout.write(`${VERSION}\n`);
    return 0;
  },
});
