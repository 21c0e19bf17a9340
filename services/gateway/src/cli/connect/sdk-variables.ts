import type { GatewayConfig } from '../../config.ts';

/** The base URL variables of the official SDKs. The SDK of OpenAI expects the API version in its base URL, that of Anthropic adds it. */
export function sdkVariables(baseUrl: string, { openai, anthropic }: GatewayConfig['providers']): Record<string, string> {
  return { OPENAI_BASE_URL: `${baseUrl}${openai.prefix}/v1`, ANTHROPIC_BASE_URL: `${baseUrl}${anthropic.prefix}` };
}
