import { Fault } from '@vitrine/faults/fault';
import { baseUrlOf } from './base-url.ts';
import { command } from './command.ts';
import { commandConfig } from './command-config.ts';
import { FORMAT_OPTION, wantsJson } from './output-format.ts';
import { printJson, printText } from './print.ts';
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
  options: { ...FORMAT_OPTION },
  words: 0,
  run: async ({ values }, context) => {
    const isJson = wantsJson(values.format);
    const config = commandConfig(values.config, context);
    const url = baseUrlOf(config);
    if (url === undefined)
      throw new Fault('invalid_config', {
        say: 'server.port (SVC_SERVER_PORT) is 0: only the log of the gateway tells its port',
      });
    const variables = sdkVariables(url, config.providers);
    if (isJson) printJson(context, variables);
    else
      printText(
        context,
        Object.entries(variables)
          .map(([name, value]) => `export ${name}=${quoted(value)}\n`)
          .join(''),
      );
    return 0;
  },
});

/** For a shell; a host may hold anything. */
function quoted(value: string): string {
  return /^[\w:/.[\]-]+$/.test(value) ? value : `'${value.replaceAll("'", String.raw`'\''`)}'`;
}
