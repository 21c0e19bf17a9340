import { inspectConfig, invalidConfig, type ConfigSource } from '@vitrine/config/read-config';
import { KEY_VARIABLE } from '@vitrine/gateway/cli/connect/gateway-options';
import { inspectGatewayConfig, type GatewayConfig } from '@vitrine/gateway/config';
import { join } from 'node:path';
import { z } from 'zod';

/** What the one-process form adds to the services' own configuration. Spec: G16.8. */
const standaloneConfig = z.strictObject({
  data: z.strictObject({ dir: z.string().min(1).default('./data') }).prefault({}),
  /** Whether the store API runs beside the gateway. */
  stores: z.strictObject({ enabled: z.boolean().default(true) }).prefault({}),
});
type StandaloneConfig = z.infer<typeof standaloneConfig>;

interface AllConfig {
  readonly standalone: StandaloneConfig;
  readonly gateway: GatewayConfig;
}

/** Reads the configuration of everything that runs in the process. Faults: `invalid_config`, with those of all parts at once. */
export function readAllConfig(yaml: ConfigSource['yaml'], env: ConfigSource['env']): AllConfig {
  // Whoever has exported the key of a command must still be able to start.
  const standalone = inspectConfig(standaloneConfig, { env, prefix: 'VITRINE_', foreign: [KEY_VARIABLE] });
  const defaults = {
    storage: { path: join(standalone.config?.data.dir ?? '.', 'traces.db') },
    // The first page that people see is the one that main.ts prints.
    log: { level: 'warn' },
  };
  const gateway = inspectGatewayConfig(yaml, env, defaults);
  if (standalone.config === undefined || gateway.config === undefined)
    throw invalidConfig([...standalone.faults, ...gateway.faults]);
  return { standalone: standalone.config, gateway: gateway.config };
}
