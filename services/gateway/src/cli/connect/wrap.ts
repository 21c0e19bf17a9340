import { httpUrlOption } from '@vitrine/command-line/option-values';
import { commandConfig } from '../config/command-config.ts';
import { command, type CommandContext } from '@vitrine/command-line/command';
import { usageError } from '@vitrine/command-line/usage-error';
import { gatewayKeyOption, gatewayUrl, KEY_VARIABLE } from './gateway-options.ts';
import { sdkVariables } from './sdk-variables.ts';

export const wrap = command({
  name: 'wrap',
  summary: 'Runs a program with the variables set that point the official SDKs at the gateway.',
  usage: '[--base-url URL] [--config FILE] -- COMMAND [ARGUMENT...]',
  help: `  --base-url URL  the gateway's URL; otherwise that of the configuration
  --config FILE   the gateway's configuration

The program runs on the standard streams of this command and receives its signals. The exit code is the program's: 128 plus the
number of the signal that ended it, 127 when it does not exist. When ${KEY_VARIABLE} is set, the SDKs send that gateway key too
(OPENAI_CUSTOM_HEADERS, ANTHROPIC_CUSTOM_HEADERS).

Examples:
  npm run gateway -- wrap -- python app.py
  npm run -s gateway -- wrap --base-url https://gateway.example.com -- claude "explain this repository"
`,
  options: { 'base-url': { type: 'string' } },
  runsChild: true,
  run: async ({ values, childArgs = [] }, context) => {
    const [file, ...args] = childArgs;
    if (file === undefined) throw usageError('wrap needs the program behind --, such as: wrap -- python app.py');
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

/** Both SDKs read header lines from a variable; lines that are set already stay. */
function headerVariables(line: string, { env }: Pick<CommandContext, 'env'>): Record<string, string> {
  const names = ['OPENAI_CUSTOM_HEADERS', 'ANTHROPIC_CUSTOM_HEADERS'];
  return Object.fromEntries(names.map((name) => [name, [env[name] ?? '', line].filter((text) => text !== '').join('\n')]));
}

/** The caller's working directory: npm runs scripts in the folder of their package. */
function callerFolder({ env }: Pick<CommandContext, 'env'>): string | undefined {
  return env['npm_lifecycle_event'] === 'gateway' ? env['INIT_CWD'] : undefined;
}
