import { readConfigFile } from '@vitrine/config/config-file';
import { readGatewayConfig, type GatewayConfig } from '../config.ts';
import type { CommandContext } from './command.ts';

/** The configuration that a command works with: the gateway's own. Faults: `config_unreadable`, `invalid_config`. */
export function commandConfig(named: string | undefined, { env }: Pick<CommandContext, 'env'>): GatewayConfig {
  return readGatewayConfig(readConfigFile(named ?? (env['SVC_CONFIG'] || undefined), 'vitrine.yaml'), env);
}
