import { Fault } from '@vitrine/faults/fault';
import { z } from 'zod';
import { keyHeaderError } from '../auth/key-header.ts';
import { askGateway } from './ask-gateway.ts';
import { baseUrlOf } from './base-url.ts';
import { command, usageError } from './command.ts';
import { commandConfig } from './command-config.ts';
import { durationOption } from './duration-option.ts';
import { baseUrlOption, gatewayKeyOption, KEY_VARIABLE } from './gateway-options.ts';
import { FORMAT_OPTION, wantsJson } from './output-format.ts';
import { printJson, printText } from './print.ts';
import { textTable } from './text-table.ts';

const DEFAULT_TIMEOUT_MS = 5_000;

/** The gateway that is asked may be newer than this program: it may say more. */
const answerShape = z.looseObject({
  schema_version: z.literal('trace-pipeline-diagnostics.v1'),
  generated_at: z.string(),
  diagnostics: z.record(z.string(), z.unknown()),
});

export const diagnostics = command({
  name: 'diagnostics',
  summary: 'Asks a running gateway what its trace pipeline has done and lost.',
  usage: '[--base-url URL] [--gateway-key KEY] [--auth-header NAME] [--timeout TIME] [--format text|json] [--config FILE]',
  help: `  --base-url URL      where the gateway is; otherwise where the configuration says it listens
  --gateway-key KEY   a key that may read analytics; better given in ${KEY_VARIABLE}, where other users do not see it
  --auth-header NAME  the header for the key; otherwise that of the configuration
  --timeout TIME      how long to wait: a duration such as 5s, or milliseconds; ${DEFAULT_TIMEOUT_MS}
  --format json       for programs: trace-pipeline-diagnostics.v1
  --config FILE       the gateway's configuration

Examples:
  npm run gateway -- diagnostics
  npm run gateway -- diagnostics --base-url http://10.0.0.7:8080 --format json
`,
  options: {
    'base-url': { type: 'string' },
    'gateway-key': { type: 'string' },
    'auth-header': { type: 'string' },
    timeout: { type: 'string' },
    ...FORMAT_OPTION,
  },
  words: 0,
  run: async ({ values }, context) => {
    const isJson = wantsJson(values.format);
    const timeoutMs = durationOption('--timeout', values.timeout, 1, 600_000) ?? DEFAULT_TIMEOUT_MS;
    const input = baseUrlOption(values['base-url']);
    const key = gatewayKeyOption(values['gateway-key'], context);
    const flaw = values['auth-header'] === undefined ? undefined : keyHeaderError(values['auth-header']);
    if (flaw !== undefined) throw usageError(`--auth-header ${flaw}`);
    const config = commandConfig(values.config, context);
    const baseUrl = input ?? baseUrlOf(config);
    if (baseUrl === undefined) throw usageError('--base-url is needed: server.port is 0, and only the log tells the port');
    const answer = await askGateway({
      baseUrl,
      path: '/api/diagnostics/trace-pipeline',
      keyHeader: values['auth-header'] ?? config.auth.header,
      key,
      timeoutMs,
    });
    const parsed = answerShape.safeParse(answer);
    if (!parsed.success) throw new Fault('gateway_unreachable', { say: `what answers at ${baseUrl} is no gateway` });
    if (isJson) printJson(context, parsed.data);
    else printText(context, textOf(parsed.data));
    return 0;
  },
});

function textOf({ generated_at: at, diagnostics: values }: z.infer<typeof answerShape>): string {
  const rows = Object.entries(values).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]);
  return `The trace pipeline at ${at}\n\n${textTable(['FIGURE', 'VALUE'], rows)}`;
}
