import type { GatewayConfig } from '../config.ts';

/** The variables in which the official SDKs look for their provider. The SDK of OpenAI adds no version to its base, that of Anthropic
 *  does. */
export function sdkVariables(baseUrl: string, { openai, anthropic }: GatewayConfig['providers']): Record<string, string> {
  return { OPENAI_BASE_URL: `${baseUrl}${openai.prefix}/v1`, ANTHROPIC_BASE_URL: `${baseUrl}${anthropic.prefix}` };
}
