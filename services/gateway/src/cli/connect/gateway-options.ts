import { baseUrlOf } from '../base-url.ts';
import type { GatewayConfig } from '../../config.ts';
import { stringOption, type CommandContext, usageError } from '@vitrine/command-line/command';

/** The variable of a gateway key: other users see the options of a process, but not its environment. */
export const KEY_VARIABLE = 'VITRINE_GATEWAY_KEY';

export const BASE_URL_OPTION = { 'base-url': stringOption('URL', "the gateway's URL; otherwise that of the configuration") };

const VISIBLE = /^[\x21-\x7e]+$/;

/** The key of the option or of the variable; one that no header can carry is a usage error, which does not repeat it. */
export function gatewayKeyOption(input: string | undefined, { env }: Pick<CommandContext, 'env'>): string | undefined {
  const key = (input ?? env[KEY_VARIABLE])?.trim() || undefined;
  if (key !== undefined && !VISIBLE.test(key)) throw usageError('a gateway key has visible ASCII characters only');
  return key;
}

/** `option`, which `httpUrlOption` has read, else the URL of the configured gateway; a usage error when there is neither. */
export function gatewayUrl(option: string | undefined, config: GatewayConfig): string {
  const url = option ?? baseUrlOf(config);
  if (url === undefined)
    throw usageError('--base-url is needed: server.port is 0, and the port is only in the log of the gateway');
  return url;
}

/** The base URL variables of the official SDKs. The SDK of OpenAI expects the API version in its base URL, that of Anthropic adds it. */
export function sdkVariables(baseUrl: string, { openai, anthropic }: GatewayConfig['providers']): Record<string, string> {
  return { OPENAI_BASE_URL: `${baseUrl}${openai.prefix}/v1`, ANTHROPIC_BASE_URL: `${baseUrl}${anthropic.prefix}` };
}
