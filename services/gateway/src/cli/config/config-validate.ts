import { command, stringOption } from '@vitrine/command-line/command';
import { FORMAT_OPTION, printResult } from '@vitrine/command-line/print-result';
import { invalidConfig } from '@vitrine/config/read-config';
import { isFault } from '@vitrine/faults/fault';
import { fileFaults } from '../doctor/file-faults.ts';
import { ineffectiveLimits } from '../../limits/thresholds.ts';
import { oldSettingSentences } from '../../config/old-settings.ts';
import { commandOldSettings, inspectCommandConfig } from './command-config.ts';

export const configValidate = command({
  name: 'config validate',
  summary: 'Checks whether the gateway would start with this configuration, and lists every error.',
  options: {
    ...FORMAT_OPTION,
    config: stringOption('FILE', 'the configuration; otherwise SVC_CONFIG, else ./vitrine.yaml if it exists'),
  },
  help: `Environment variables are included. The price list is read, and the places of traces and gateway keys are checked for write access.
No store is opened, nothing is left behind, and a gateway may be running. Exit code 1: the gateway would not start. Valid settings
without effect are warnings.`,
  examples: ['config validate', 'config validate --config deploy/gateway.yaml --format json'],
  run: async ({ values: { config: file, format } }, context) => {
    let warnings: string[];
    try {
      const { config, parts, faults } = inspectCommandConfig(file, context);
      const all = [...faults, ...fileFaults(parts)];
      if (config === undefined || all.length > 0) throw invalidConfig(all);
      warnings = [...ineffectiveLimits(config), ...oldSettingSentences(commandOldSettings(file, context))];
    } catch (error) {
      if (format !== 'json' || !isFault(error)) throw error;
      printResult(context, format, { valid: false, error: error.say, faults: error.log['faults'] ?? [] }, () => '');
      return 1;
    }
    printResult(context, format, { valid: true, warnings }, validText);
    return 0;
  },
});

function validText({ warnings }: { readonly warnings: readonly string[] }): string {
  return ['The configuration is valid.\n', ...warnings.map((warning) => `Warning: ${warning}.\n`)].join('');
}
