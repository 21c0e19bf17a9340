import { command, stringOption, type Command } from './command.ts';
import { FORMAT_OPTION, formatResult } from './output-format.ts';

/** The command `version` of a program, also run by `--version`. `script`: the npm script that starts the program from the checkout. */
export function versionCommand(program: string, version: string, script = `npm run ${program}`): Command {
  return command({
    name: 'version',
    summary: `Prints the version; so does ${program} --version.`,
    options: { ...FORMAT_OPTION, config: stringOption('FILE', 'accepted and not read') },
    examples: [`${script} -- version`, `${script} -s -- version --format json`],
    run: async ({ values }, { stdout }) => {
      stdout.write(formatResult(values.format, { version }, () => `${version}\n`));
      return 0;
    },
  });
}
