import { Fault } from '@vitrine/faults/fault';
import { baseUrlOf } from '../base-url.ts';
import { command } from '@vitrine/command-line/command';
import { commandConfig } from '../config/command-config.ts';
import { FORMAT_OPTION, printResult } from '@vitrine/command-line/output-format';
import { sdkVariables } from './sdk-variables.ts';

export const env = command({
  name: 'env',
  summary: 'Prints the variables that point the official SDKs at the gateway.',
  usage: '[--format text|json] [--config FILE]',
  help: `  --format json  for programs
  --config FILE  the gateway's configuration

Examples:
  npm run gateway -- env
  eval "$(npm run -s gateway -- env)"
  npm run -s gateway -- env --format json
`,
  options: FORMAT_OPTION,
  run: async ({ values }, context) => {
    const config = commandConfig(values.config, context);
    const url = baseUrlOf(config);
    if (url === undefined)
      throw new Fault('invalid_config', {
        say: 'server.port (SVC_SERVER_PORT) is 0: the port is only in the log of the gateway',
      });
    const variables = sdkVariables(url, config.providers);
    printResult(context, values.format, variables, exportText);
    return 0;
  },
});

function exportText(variables: Readonly<Record<string, string>>): string {
  return Object.entries(variables)
    .map(([name, value]) => `export ${name}=${shellQuoted(value)}\n`)
    .join('');
}

/** A host may contain characters that a shell would interpret. */
function shellQuoted(value: string): string {
  return /^[\w:/.[\]-]+$/.test(value) ? value : `'${value.replaceAll("'", String.raw`'\''`)}'`;
}
