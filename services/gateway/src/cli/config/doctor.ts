import { faultText } from '@vitrine/config/read-config';
import { isFault } from '@vitrine/faults/fault';
import { resolve } from 'node:path';
import type { GatewayConfig } from '../../config.ts';
import { checkAuth } from '../doctor/auth-check.ts';
import { overallStatus, resultOf, type Check, checkPlans, checkPrices, checkRoutes } from '../doctor/check.ts';
import { fileFaults } from '../doctor/file-faults.ts';
import { checkStorage } from '../doctor/storage-check.ts';
import { ineffectiveLimits } from '../../limits/thresholds.ts';
import { oldSettingSentences } from '../../config/old-settings.ts';
import { planNames, readPlans } from '../../limits/plans/read-plans.ts';
import { priceFaults } from '../../recording/price-settings.ts';
import { command, type CommandContext } from '@vitrine/command-line/command';
import { printResult } from '@vitrine/command-line/print-result';
import { commandOldSettings, configLocation, inspectCommandConfig, OUTPUT_OPTIONS } from './command-config.ts';

export const doctor = command({
  name: 'doctor',
  summary: 'Checks configuration, storage, routes, authentication, plans and prices.',
  options: OUTPUT_OPTIONS,
  help: `Each check passes, warns or fails; a gateway may be running. Nothing is changed or left behind, and no provider is called.
A topic gets one record without value, which trace-writers skip.
Exit code 1: a check failed.`,
  examples: ['doctor', 'doctor --config deploy/gateway.yaml --format json'],
  run: async ({ values }, context) => {
    const result = await diagnose(values.config, context);
    printResult(context, values.format, result, resultText);
    return result.overall_status === 'fail' ? 1 : 0;
  },
});

async function diagnose(file: string | undefined, context: CommandContext) {
  const { path, source } = configLocation(file, context);
  const checks = await runChecks(file, context);
  return {
    generated_at: new Date().toISOString(),
    config_path: path === undefined ? '' : resolve(path),
    config_source: source,
    overall_status: overallStatus(checks),
    checks,
  };
}

type Diagnosis = Awaited<ReturnType<typeof diagnose>>;

async function runChecks(file: string | undefined, context: CommandContext): Promise<Check[]> {
  const old = oldSettingSentences(commandOldSettings(file, context));
  let inspected: ReturnType<typeof inspectCommandConfig>;
  try {
    inspected = inspectCommandConfig(file, context);
  } catch (error) {
    if (!isFault(error)) throw error;
    return invalidConfiguration([error.say, ...old]);
  }
  const { config, parts, faults } = inspected;
  if (config === undefined) {
    // The storage check is skipped, so that faults of the files are listed here.
    const lines = [...faults, ...fileFaults(parts)].map(faultText);
    return invalidConfiguration([...lines, ...old]);
  }
  const plans = await readPlans(config);
  const unusablePrices = priceFaults(config.prices).map(faultText);
  return [
    checkConfig(config, unusablePrices, old),
    await checkStorage(config),
    checkRoutes(config),
    await checkAuth(config, planNames(config.plans, plans)),
    checkPlans(config, plans),
    checkPrices(config, unusablePrices.length > 0),
  ];
}

function invalidConfiguration(details: readonly string[]): Check[] {
  const skipped = (['storage', 'route_wiring', 'auth_posture', 'plans', 'prices'] as const).map((name) =>
    resultOf(name)('skip', 'skipped: there is no valid configuration'),
  );
  return [resultOf('config', details)('fail', 'the configuration is not valid'), ...skipped];
}

/** A valid configuration may still name unusable prices, or have settings without effect. */
function checkConfig(config: GatewayConfig, unusablePrices: readonly string[], old: readonly string[]): Check {
  const idle = [...ineffectiveLimits(config), ...old];
  const found = resultOf('config', [...unusablePrices, ...idle]);
  if (unusablePrices.length > 0) return found('fail', 'the configuration names prices that cannot be used');
  if (idle.length > 0) return found('warn', 'the configuration is valid, but a part of it has no effect');
  return found('pass', 'the configuration is valid');
}

function resultText({ config_path: path, config_source: source, checks, overall_status: overall }: Diagnosis): string {
  const none = 'none: there is no --config, no SVC_CONFIG and no vitrine.yaml here';
  const file = path === '' ? none : `${path} (${source})`;
  return `Configuration file: ${file}\n\n${checks.map(checkText).join('')}\nOverall: ${overall}\n`;
}

function checkText({ name, status, summary, details }: Check): string {
  const lines = details.map((detail) => `        ${detail}\n`);
  return `${status.padEnd(4)}  ${name}: ${summary}\n${lines.join('')}`;
}
