import { stringOption, type CommandContext } from '@vitrine/command-line/command';
import { FORMAT_OPTION } from '@vitrine/command-line/print-result';
import { locateConfigFile, readConfigFile, type ConfigLocation } from '@vitrine/config/config-file';
import { invalidConfig, type InspectedConfig } from '@vitrine/config/read-config';
import { GATEWAY_CONFIG_FILE, inspectGatewayConfig, type gatewayConfig, type GatewayConfig } from '../../config.ts';
import { oldSettingsIn } from '../../config/old-settings.ts';

type Environment = Pick<CommandContext, 'env'>;

export const CONFIG_OPTION = { config: stringOption('FILE', "the gateway's configuration") };

/** The last options of most commands. */
export const OUTPUT_OPTIONS = { ...FORMAT_OPTION, ...CONFIG_OPTION };

/** The gateway's configuration for a command; `option` is the value of `--config`. Faults: `config_unreadable`, `invalid_config`. */
export function commandConfig(option: string | undefined, context: Environment): GatewayConfig {
  const { config, faults } = inspectCommandConfig(option, context);
  if (config === undefined) throw invalidConfig(faults);
  return config;
}

/** The same with all of its faults, instead of a thrown one. Faults: `config_unreadable`. */
export function inspectCommandConfig(option: string | undefined, context: Environment): InspectedConfig<typeof gatewayConfig> {
  return inspectGatewayConfig(readConfigFile(configLocation(option, context).path), context.env);
}

export function configLocation(option: string | undefined, { env }: Environment): ConfigLocation {
  return locateConfigFile(option, env, GATEWAY_CONFIG_FILE);
}

/** Settings of `ongoingai/gateway`; see `oldSettingsIn`. */
export function commandOldSettings(option: string | undefined, context: Environment): Readonly<Record<string, string>> {
  return oldSettingsIn(context.env, configLocation(option, context).path !== undefined);
}
