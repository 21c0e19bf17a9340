import { readConfigFile } from '@vitrine/config/config-file';
import { invalidConfig, type InspectedConfig } from '@vitrine/config/read-config';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { inspectGatewayConfig, type gatewayConfig, type GatewayConfig } from '../config.ts';
import { oldSettingsIn } from '../old-gateway/old-settings.ts';
import type { CommandContext } from './command.ts';

const USUAL_FILE = 'vitrine.yaml';

/** Which configuration file is read, and what says so. */
export interface ConfigLocation {
  /** Absolute; undefined when none is read. */
  readonly path: string | undefined;
  readonly source: '--config' | 'SVC_CONFIG' | 'default' | 'none';
}

/** The configuration that a command works with: the gateway's own. Faults: `config_unreadable`, `invalid_config`. */
export function commandConfig(named: string | undefined, context: Pick<CommandContext, 'env'>): GatewayConfig {
  const { config, faults } = inspectCommandConfig(named, context);
  if (config === undefined) throw invalidConfig(faults);
  return config;
}

/** The same with everything that is wrong with it. Faults: `config_unreadable`. */
export function inspectCommandConfig(
  named: string | undefined,
  { env }: Pick<CommandContext, 'env'>,
): InspectedConfig<typeof gatewayConfig> {
  return inspectGatewayConfig(readConfigFile(named ?? (env['SVC_CONFIG'] || undefined), USUAL_FILE), env);
}

export function configLocation(named: string | undefined, { env }: Pick<CommandContext, 'env'>): ConfigLocation {
  if (named !== undefined) return { path: resolve(named), source: '--config' };
  const variable = env['SVC_CONFIG'] ?? '';
  if (variable !== '') return { path: resolve(variable), source: 'SVC_CONFIG' };
  return existsSync(USUAL_FILE) ? { path: resolve(USUAL_FILE), source: 'default' } : { path: undefined, source: 'none' };
}

/** What was set for `ongoingai/gateway`; see `oldSettingsIn`. */
export function commandOldSettings(
  named: string | undefined,
  context: Pick<CommandContext, 'env'>,
): Readonly<Record<string, string>> {
  return oldSettingsIn(context.env, configLocation(named, context).path !== undefined);
}
