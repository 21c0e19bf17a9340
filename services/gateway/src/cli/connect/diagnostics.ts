import { z } from 'zod';
import { keyHeaderError } from '../../auth/auth-config.ts';
import { requestJson } from '@vitrine/command-line/request-json';
import { command, stringOption, usageError } from '@vitrine/command-line/command';
import { textTable, formatOption, printResult } from '@vitrine/command-line/print-result';
import { durationOption, httpUrlOption } from '@vitrine/command-line/option-values';
import { commandConfig, CONFIG_OPTION } from '../config/command-config.ts';
import { BASE_URL_OPTION, gatewayKeyOption, gatewayUrl, KEY_VARIABLE } from './gateway-options.ts';

const DEFAULT_TIMEOUT_MS = 5_000;

/** Loose, because the gateway may be newer than this program. */
const responseShape = z.looseObject({
  schema_version: z.literal('trace-pipeline-diagnostics.v1'),
  generated_at: z.string(),
  diagnostics: z.record(z.string(), z.unknown()),
});

export const diagnostics = command({
  name: 'diagnostics',
  summary: 'Shows the trace pipeline counters of a running gateway.',
  options: {
    ...BASE_URL_OPTION,
    'gateway-key': stringOption(
      'KEY',
      `a key that may read analytics; better given in ${KEY_VARIABLE}, where other users do not see it`,
    ),
    'auth-header': stringOption('NAME', 'the header for the key; otherwise that of the configuration'),
    timeout: stringOption('TIME', `time limit of the request: a duration such as 5s, or milliseconds; ${DEFAULT_TIMEOUT_MS}`),
    format: formatOption('for programs: trace-pipeline-diagnostics.v1'),
    ...CONFIG_OPTION,
  },
  examples: ['diagnostics', 'diagnostics --base-url http://10.0.0.7:8080 --format json'],
  run: async ({ values }, context) => {
    const timeoutMs = durationOption('--timeout', values.timeout, 1, 600_000) ?? DEFAULT_TIMEOUT_MS;
    const url = httpUrlOption('--base-url', values['base-url']);
    const key = gatewayKeyOption(values['gateway-key'], context);
    const headerError = values['auth-header'] === undefined ? undefined : keyHeaderError(values['auth-header']);
    if (headerError !== undefined) throw usageError(`--auth-header ${headerError}`);
    const config = commandConfig(values.config, context);
    const response = await requestJson({
      service: 'Vitrine gateway',
      baseUrl: gatewayUrl(url, config),
      path: '/api/diagnostics/trace-pipeline',
      headers: key === undefined ? {} : { [values['auth-header'] ?? config.auth.header]: key },
      timeoutMs,
      shape: responseShape,
    });
    printResult(context, values.format, response, textOf);
    return 0;
  },
});

function textOf({ generated_at: at, diagnostics: values }: z.infer<typeof responseShape>): string {
  const rows = Object.entries(values).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]);
  return `The trace pipeline at ${at}\n\n${textTable(['FIGURE', 'VALUE'], rows)}`;
}
