import { baseUrlOf } from './base-url.ts';
import { commandConfig } from './command-config.ts';
import { command, usageError, type CommandContext } from './command.ts';
import { baseUrlOption, gatewayKeyOption, KEY_VARIABLE } from './gateway-options.ts';
import { sdkVariables } from './sdk-variables.ts';

export const wrap = command({
  name: 'wrap',
  summary: 'Runs a program with the variables set that point the official SDKs at the gateway.',
  usage: '[--base-url URL] [--config FILE] -- COMMAND [ARGUMENT...]',
  help: `  --base-url URL  where the gateway is; otherwise where the configuration says it listens
  --config FILE   the gateway's configuration

The program gets this one's standard streams and signals, and its exit code is the command's: 128 and a signal's number when
that ended it, 127 when there is no such program. When a gateway key stands in ${KEY_VARIABLE}, the SDKs send it as well
(OPENAI_CUSTOM_HEADERS, ANTHROPIC_CUSTOM_HEADERS).

Examples:
  npm run gateway -- wrap -- python app.py
  npm run -s gateway -- wrap --base-url https://gateway.example.com -- claude "explain this repository"
`,
  options: { 'base-url': { type: 'string' } },
  words: 0,
  runsAnother: true,
  run: async ({ values, behind = [] }, context) => {
    const [file, ...args] = behind;
    if (file === undefined) throw usageError('wrap needs the program behind --, such as: wrap -- python app.py');
    const input = baseUrlOption(values['base-url']);
    const key = gatewayKeyOption(undefined, context);
    const config = commandConfig(values.config, context);
    const baseUrl = input ?? baseUrlOf(config);
    if (baseUrl === undefined) throw usageError('--base-url is needed: server.port is 0, and only the log tells the port');
    const keyVariables = key === undefined ? {} : headerVariables(`${config.auth.header}: ${key}`, context);
    const env = { ...context.env, ...sdkVariables(baseUrl, config.providers), ...keyVariables };
    const { exitCode, failure } = await context.runChild({ file, args, env, cwd: callerFolder(context) });
    if (failure !== undefined) context.stderr.write(`gateway: ${file} cannot be run: ${failure}\n`);
    return exitCode;
  },
});

/** Both SDKs read header lines from a variable; those that are there already stay. */
function headerVariables(line: string, { env }: Pick<CommandContext, 'env'>): Record<string, string> {
  const names = ['OPENAI_CUSTOM_HEADERS', 'ANTHROPIC_CUSTOM_HEADERS'];
  return Object.fromEntries(names.map((name) => [name, [env[name] ?? '', line].filter((text) => text !== '').join('\n')]));
}

/** Where the caller stands: npm runs scripts in the folder of their package. */
function callerFolder({ env }: Pick<CommandContext, 'env'>): string | undefined {
  return env['npm_lifecycle_event'] === 'gateway' ? env['INIT_CWD'] : undefined;
}
