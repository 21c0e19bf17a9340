import type { OperatorConfig } from '../config.ts';

/** Where clients reach the providers through the gateway, and the header of its key. */
export type ClientSettings = OperatorConfig['clients'];

/** Variables that the SDKs of OpenAI and Anthropic read, with which a client needs nothing but `envFrom` and a key of its provider. */
export function clientVariables(settings: ClientSettings, token: string): Readonly<Record<string, string>> {
  const headers = `${settings.key_header}: ${token}`;
  const { openai_base_url: openai, anthropic_base_url: anthropic } = settings;
  return {
    ...(openai !== undefined && { OPENAI_BASE_URL: openai, OPENAI_CUSTOM_HEADERS: headers }),
    ...(anthropic !== undefined && { ANTHROPIC_BASE_URL: anthropic, ANTHROPIC_CUSTOM_HEADERS: headers }),
  };
}
