import { isFault } from '@vitrine/faults/fault';
import type { GatewayConfig } from '../config.ts';
import { checkAuth } from '../doctor/auth-check.ts';
import { overallStatus, type Check } from '../doctor/check.ts';
import { checkRoutes } from '../doctor/route-check.ts';
import { checkStorage } from '../doctor/storage-check.ts';
import { idleLimits } from '../limits/idle-limits.ts';
import { oldSettingSentences } from '../old-gateway/old-settings.ts';
import { command, type CommandContext } from './command.ts';
import { commandConfig, commandOldSettings } from './command-config.ts';
import { FORMAT_OPTION, wantsJson } from './output-format.ts';
import { printJson, printText } from './print.ts';

export const doctor = command({
  name: 'doctor',
  summary: 'Looks at configuration, storage, routes and authentication, and says what is wrong with them.',
  usage: '[--format text|json] [--config FILE]',
  help: `  --format json  for programs
  --config FILE  the gateway's configuration

Each check passes, warns or fails; a gateway may be running meanwhile. Nothing is changed and no provider is called.
Exit code 1: a check has failed.

Examples:
  npm run gateway -- doctor
  npm run gateway -- doctor --config deploy/gateway.yaml --format json
`,
  options: { ...FORMAT_OPTION },
  words: 0,
  run: async ({ values }, context) => {
    const isJson = wantsJson(values.format);
    const checks = await examine(values.config, context);
    const overall = overallStatus(checks);
    if (isJson) {
      const config_path = values.config ?? context.env['SVC_CONFIG'] ?? '';
      printJson(context, { generated_at: new Date().toISOString(), config_path, overall_status: overall, checks });
    } else {
      printText(context, checks.map(textOf).join('') + `\nAll in all: ${overall}\n`);
    }
    return overall === 'fail' ? 1 : 0;
  },
});

async function examine(named: string | undefined, context: CommandContext): Promise<Check[]> {
  const old = oldSettingSentences(commandOldSettings(named, context));
  let config: GatewayConfig;
  try {
    config = commandConfig(named, context);
  } catch (error) {
    if (!isFault(error)) throw error;
    const skipped = (['storage', 'route_wiring', 'auth_posture'] as const).map((name): Check => ({
      name,
      status: 'skip',
      summary: 'not looked at: there is no valid configuration',
      details: [],
    }));
    const [first = '', ...faults] = error.say.split('\n').map((line) => line.trim());
    const details = [...(faults.length === 0 ? [first] : faults), ...old];
    return [{ name: 'config', status: 'fail', summary: 'the configuration is not valid', details }, ...skipped];
  }
  return [
    checkSettings([...idleLimits(config), ...old]),
    await checkStorage(config),
    checkRoutes(config),
    await checkAuth(config),
  ];
}

/** A valid configuration may still say what does nothing. */
function checkSettings(details: readonly string[]): Check {
  if (details.length === 0) return { name: 'config', status: 'pass', summary: 'the configuration is valid', details };
  return { name: 'config', status: 'warn', summary: 'the configuration is valid, and a part of it does nothing', details };
}

function textOf({ name, status, summary, details }: Check): string {
  const lines = details.map((detail) => `        ${detail}\n`);
  return `${status.padEnd(4)}  ${name}: ${summary}\n${lines.join('')}`;
}
