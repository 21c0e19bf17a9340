import { invalidConfig } from '@vitrine/config/read-config';
import { isFault } from '@vitrine/faults/fault';
import type { GatewayConfig } from '../config.ts';
import { checkAuth } from '../doctor/auth-check.ts';
import { overallStatus, type Check } from '../doctor/check.ts';
import { fileFaults, priceFaults } from '../doctor/file-faults.ts';
import { checkRoutes } from '../doctor/route-check.ts';
import { checkStorage } from '../doctor/storage-check.ts';
import { ineffectiveLimits } from '../limits/ineffective-limits.ts';
import { oldSettingSentences } from '../old-gateway/old-settings.ts';
import { command, type CommandContext } from './command.ts';
import { commandOldSettings, configLocation, inspectCommandConfig, type ConfigLocation } from './command-config.ts';
import { FORMAT_OPTION, wantsJson } from './output-format.ts';
import { printJson, printText } from './print.ts';

export const doctor = command({
  name: 'doctor',
  summary: 'Looks at configuration, storage, routes and authentication, and says what is wrong with them.',
  usage: '[--format text|json] [--config FILE]',
  help: `  --format json  for programs
  --config FILE  the gateway's configuration

Each check passes, warns or fails; a gateway may be running meanwhile. Nothing is changed or left behind and no provider is called.
Exit code 1: a check has failed.

Examples:
  npm run gateway -- doctor
  npm run gateway -- doctor --config deploy/gateway.yaml --format json
`,
  options: { ...FORMAT_OPTION },
  words: 0,
  run: async ({ values }, context) => {
    const isJson = wantsJson(values.format);
    const location = configLocation(values.config, context);
    const checks = await examine(values.config, context);
    const overall = overallStatus(checks);
    if (isJson) {
      const { path: config_path = '', source: config_source } = location;
      printJson(context, { generated_at: new Date().toISOString(), config_path, config_source, overall_status: overall, checks });
    } else {
      printText(context, `${locationText(location)}\n${checks.map(textOf).join('')}\nAll in all: ${overall}\n`);
    }
    return overall === 'fail' ? 1 : 0;
  },
});

async function examine(named: string | undefined, context: CommandContext): Promise<Check[]> {
  const old = oldSettingSentences(commandOldSettings(named, context));
  let inspected: ReturnType<typeof inspectCommandConfig>;
  try {
    inspected = inspectCommandConfig(named, context);
  } catch (error) {
    if (!isFault(error)) throw error;
    return invalidConfiguration([error.say, ...old]);
  }
  const { config, parts, faults } = inspected;
  if (config === undefined) {
    // What the files look like is said with the rest: they are not looked at any more.
    const all = invalidConfig([...faults, ...fileFaults(parts)]);
    const lines = all.say.split('\n').slice(1);
    return invalidConfiguration([...lines.map((line) => line.trim()), ...old]);
  }
  return [checkConfig(config, old), await checkStorage(config), checkRoutes(config), await checkAuth(config)];
}

function invalidConfiguration(details: readonly string[]): Check[] {
  const skipped = (['storage', 'route_wiring', 'auth_posture'] as const).map((name): Check => ({
    name,
    status: 'skip',
    summary: 'not looked at: there is no valid configuration',
    details: [],
  }));
  return [{ name: 'config', status: 'fail', summary: 'the configuration is not valid', details }, ...skipped];
}

/** A valid configuration may still name a file that is none, or say what does nothing. */
function checkConfig(config: GatewayConfig, old: readonly string[]): Check {
  const idle = [...ineffectiveLimits(config), ...old];
  const flaws = priceFaults(config).map(({ path, variable, message }) => `${path} (${variable}): ${message}`);
  const found = (status: Check['status'], summary: string): Check => ({
    name: 'config',
    status,
    summary,
    details: [...flaws, ...idle],
  });
  if (flaws.length > 0) return found('fail', 'the configuration names a file that cannot be used');
  if (idle.length > 0) return found('warn', 'the configuration is valid, and a part of it does nothing');
  return found('pass', 'the configuration is valid');
}

function locationText({ path, source }: ConfigLocation): string {
  const none = 'none: there is no --config, no SVC_CONFIG and no vitrine.yaml here';
  return `Configuration file: ${path === undefined ? none : `${path} (${source})`}\n`;
}

function textOf({ name, status, summary, details }: Check): string {
  const lines = details.map((detail) => `        ${detail}\n`);
  return `${status.padEnd(4)}  ${name}: ${summary}\n${lines.join('')}`;
}
