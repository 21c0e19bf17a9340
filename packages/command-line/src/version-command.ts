import { command, type Command } from './command.ts';
import { FORMAT_OPTION, formatResult } from './output-format.ts';

/** The command `version` of a program, which `--version` runs too. */
export function versionCommand(program: string, version: string): Command {
  return command({
    name: 'version',
    summary: `Prints the version; so does ${program} --version.`,
    usage: '[--format text|json] [--config FILE]',
    help: `  --format json  for programs
  --config FILE  accepted and not read

Examples:
  npm run ${program} -- version
  npm run -s ${program} -- version --format json
`,
    options: FORMAT_OPTION,
    run: async ({ values }, { stdout }) => {
      stdout.write(formatResult(values.format, { version }, () => `${version}\n`));
      return 0;
    },
  });
}
