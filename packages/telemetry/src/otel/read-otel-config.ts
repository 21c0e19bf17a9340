import { readConfig } from '@vitrine/config/read-config';
import { z } from 'zod';
import { otelConfig, type OtelConfig } from './otel-config.ts';
import { otelVariables } from './otel-variables.ts';

/** Reads `observability.otel` alone, from its YAML part and the environment, into one frozen value; for programs that have no
 *  other configuration. A service makes `otelConfig` and `otelVariables()` part of its own `readConfig` instead.
 *  Faults: `invalid_config`, with every fault at once. */
export function readOtelConfig(
  yaml: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string | undefined>>,
): OtelConfig {
  const shape = z.strictObject({ observability: z.strictObject({ otel: otelConfig.prefault({}) }).prefault({}) });
  const named = otelVariables();
  const names = new Set(named.map(({ name }) => name));
  const variables = Object.entries(env).filter(([name]) => names.has(name) || name.startsWith('SVC_OBSERVABILITY_OTEL_'));
  const source = { defaults: { observability: { otel: yaml } }, env: Object.fromEntries(variables), prefix: 'SVC_', named };
  return readConfig(shape, source).observability.otel;
}
