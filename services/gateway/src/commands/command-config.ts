import { readConfigFile } from '@vitrine/config/config-file';
import { existsSync } from 'node:fs';
import { readGatewayConfig, type GatewayConfig } from '../config.ts';
import { oldSettingsIn } from '../old-gateway/old-settings.ts';
import type { CommandContext } from './command.ts';

/** What is read when nothing is named. */
const USUAL_FILE = 'vitrine.yaml';

/** The configuration that a command works with: the gateway's own. Faults: `config_unreadable`, `invalid_config`. */
export function commandConfig(named: string | undefined, { env }: Pick<CommandContext, 'env'>): GatewayConfig {
  return readGatewayConfig(readConfigFile(named ?? (env['SVC_CONFIG'] || undefined), USUAL_FILE), env);
}

/** What was set for `ongoingai/gateway`; see `oldSettingsIn`. */
export function commandOldSettings(
  named: string | undefined,
  { env }: Pick<CommandContext, 'env'>,
): Readonly<Record<string, string>> {
  return oldSettingsIn(env, (named ?? env['SVC_CONFIG'] ?? '') !== '' || existsSync(USUAL_FILE));
}
