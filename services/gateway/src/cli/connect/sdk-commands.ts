import { command, type CommandContext, usageError } from '@vitrine/command-line/command';
import { printResult } from '@vitrine/command-line/print-result';
import { httpUrlOption } from '@vitrine/command-line/option-values';
import { Fault } from '@vitrine/faults/fault';
import { BASE_URL_OPTION, gatewayKeyOption, gatewayUrl, KEY_VARIABLE, sdkVariables } from './gateway-options.ts';
import { baseUrlOf } from '../base-url.ts';
import { commandConfig, CONFIG_OPTION, OUTPUT_OPTIONS } from '../config/command-config.ts';

export const env = command({
  name: 'env',
  summary: 'Prints the variables that point the official SDKs at the gateway.',
  options: OUTPUT_OPTIONS,
  examples: ['env', 'eval "$(npm run -s gateway -- env)"', 'env --format json'],
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

export const wrap = command({
  name: 'wrap',
  summary: 'Runs a program with the variables set that point the official SDKs at the gateway.',
  options: { ...BASE_URL_OPTION, ...CONFIG_OPTION },
  help: `The program runs on the standard streams of this command and receives its signals. The exit code is the program's: 128 plus the
number of the signal that ended it, 127 when it does not exist. When ${KEY_VARIABLE} is set, the SDKs send that gateway key too
(OPENAI_CUSTOM_HEADERS, ANTHROPIC_CUSTOM_HEADERS).`,
  examples: [
    'wrap -- python app.py',
    'npm run -s gateway -- wrap --base-url https://gateway.example.com -- claude "explain this repository"',
  ],
  runsChild: true,
  run: async ({ values, childArgs = [] }, context) => {
    const [file, ...args] = childArgs;
    if (file === undefined) throw usageError('wrap needs the program after --, such as: wrap -- python app.py');
    const url = httpUrlOption('--base-url', values['base-url']);
    const key = gatewayKeyOption(undefined, context);
    const config = commandConfig(values.config, context);
    const keyVariables = key === undefined ? {} : headerVariables(`${config.auth.header}: ${key}`, context);
    const env = { ...context.env, ...sdkVariables(gatewayUrl(url, config), config.providers), ...keyVariables };
    const { exitCode, failure } = await context.runChild({ file, args, env, cwd: callerFolder(context) });
    if (failure !== undefined) context.stderr.write(`gateway: ${file} cannot be run: ${failure}\n`);
    return exitCode;
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

/** Both SDKs read header lines from a variable; lines that are set already stay. */
function headerVariables(line: string, { env }: Pick<CommandContext, 'env'>): Record<string, string> {
  const names = ['OPENAI_CUSTOM_HEADERS', 'ANTHROPIC_CUSTOM_HEADERS'];
  return Object.fromEntries(names.map((name) => [name, [env[name] ?? '', line].filter((text) => text !== '').join('\n')]));
}

/** The caller's working directory: npm runs scripts in the folder of their package. */
function callerFolder({ env }: Pick<CommandContext, 'env'>): string | undefined {
  return env['npm_lifecycle_event'] === 'gateway' ? env['INIT_CWD'] : undefined;
}
