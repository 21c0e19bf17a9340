import { invalidConfig } from '@vitrine/config/read-config';
import { isFault } from '@vitrine/faults/fault';
import { fileFaults } from '../doctor/file-faults.ts';
import { ineffectiveLimits } from '../limits/ineffective-limits.ts';
import { command } from './command.ts';
import { oldSettingSentences } from '../old-gateway/old-settings.ts';
import { commandOldSettings, inspectCommandConfig } from './command-config.ts';
import { FORMAT_OPTION, wantsJson } from './output-format.ts';
import { printJson, printText } from './print.ts';

export const configValidate = command({
  name: 'config validate',
  summary: 'Says whether the gateway would start with this configuration, and if not, everything that is wrong.',
  usage: '[--format text|json] [--config FILE]',
  help: `  --format json  for programs
  --config FILE  the configuration; otherwise SVC_CONFIG, else ./vitrine.yaml when it is there

Environment variables count too. The files that it names are looked at: the price list, and whether traces and gateway keys can be
kept where they are to be. No store is opened, nothing is left behind, and a gateway may be running. Exit code 1: it would not start;
what is valid and does nothing is a warning.

Examples:
  npm run gateway -- config validate
  npm run gateway -- config validate --config deploy/gateway.yaml --format json
`,
  options: { ...FORMAT_OPTION },
  words: 0,
  run: async ({ values }, context) => {
    const isJson = wantsJson(values.format);
    let warnings: string[];
    try {
      const { config, parts, faults } = inspectCommandConfig(values.config, context);
      const all = [...faults, ...fileFaults(parts)];
      if (config === undefined || all.length > 0) throw invalidConfig(all);
      warnings = [...ineffectiveLimits(config), ...oldSettingSentences(commandOldSettings(values.config, context))];
    } catch (error) {
      if (!isJson || !isFault(error)) throw error;
      printJson(context, { valid: false, error: error.say, faults: error.log['faults'] ?? [] });
      return 1;
    }
    if (isJson) printJson(context, { valid: true, warnings });
    else printText(context, ['The configuration is valid.\n', ...warnings.map((warning) => `Warning: ${warning}.\n`)].join(''));
    return 0;
  },
});
