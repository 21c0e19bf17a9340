import { inspectConfig, invalidConfig, type ConfigSource } from '@vitrine/config/read-config';
import { KEY_VARIABLE } from '@vitrine/gateway/cli/connect/gateway-options';
import { inspectGatewayConfig } from '@vitrine/gateway/config';
import { join } from 'node:path';
import { z } from 'zod';

/** The configuration of the standalone process, in addition to that of its services. Spec: G16.8. */
const standaloneConfig = z.strictObject({
  data: z.strictObject({ dir: z.string().min(1).default('./data') }).prefault({}),
  /** Whether the store API runs beside the gateway. */
  stores: z.strictObject({ enabled: z.boolean().default(true) }).prefault({}),
});

/** Reads the configuration of everything that runs in the process. Faults: `invalid_config`, with those of all parts at once. */
export function readAllConfig(yaml: ConfigSource['yaml'], env: ConfigSource['env']) {
  // The key of a command may be exported in the same shell.
  const standalone = inspectConfig(standaloneConfig, { env, prefix: 'VITRINE_', foreign: [KEY_VARIABLE] });
  const defaults = {
    storage: { path: join(standalone.config?.data.dir ?? '.', 'traces.db') },
    // main.ts prints the welcome page that users see first.
    log: { level: 'warn' },
  };
  const gateway = inspectGatewayConfig(yaml, env, defaults);
  if (standalone.config === undefined || gateway.config === undefined)
    throw invalidConfig([...standalone.faults, ...gateway.faults]);
  return { standalone: standalone.config, gateway: gateway.config };
}
