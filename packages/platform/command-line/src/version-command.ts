import { command, type Command } from './command.ts';
import { FORMAT_OPTION, formatResult } from './output-format.ts';

/** The command `version` of a program, which `--version` runs too. `script`: what starts the program from the checkout. */
export function versionCommand(program: string, version: string, script = `npm run ${program}`): Command {
  return command({
    name: 'version',
    summary: `Prints the version; so does ${program} --version.`,
    usage: '[--format text|json] [--config FILE]',
    help: `  --format json  for programs
  --config FILE  accepted and not read

Examples:
  ${script} -- version
  ${script} -s -- version --format json
`,
    options: FORMAT_OPTION,
    run: async ({ values }, { stdout }) => {
      stdout.write(formatResult(values.format, { version }, () => `${version}\n`));
      return 0;
    },
  });
}
