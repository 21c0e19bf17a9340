import { readConfig, type ConfigSource } from '@vitrine/config/read-config';
import { Fault, isFault } from '@vitrine/faults/fault';
import { readGatewayConfig, type GatewayConfig } from '@vitrine/gateway/config';
import { join } from 'node:path';
import { z } from 'zod';

/** What the one-process form adds to the services' own configuration. Spec: house, section 5. */
const standaloneConfig = z.strictObject({
  data: z.strictObject({ dir: z.string().min(1).default('./data') }).prefault({}),
});
type StandaloneConfig = z.infer<typeof standaloneConfig>;

export interface AllConfig {
  readonly standalone: StandaloneConfig;
  readonly gateway: GatewayConfig;
}

/** Reads the configuration of everything that runs in the process. Faults: `invalid_config`, with those of all parts at once. */
export function readAllConfig(yaml: ConfigSource['yaml'], env: ConfigSource['env']): AllConfig {
  const faults: Fault[] = [];
  const attempt = <T>(read: () => T): T | undefined => {
    try {
      return read();
    } catch (error) {
      if (!isFault(error)) throw error;
      faults.push(error);
      return undefined;
    }
  };
  // A key for commands that ask a gateway; nothing of this process reads it.
  const { VITRINE_GATEWAY_KEY: _ofCommands, ...variables } = env;
  const standalone = attempt(() => readConfig(standaloneConfig, { env: variables, prefix: 'VITRINE_' }));
  const defaults = {
    storage: { path: join(standalone?.data.dir ?? '.', 'traces.db') },
    // The first page that people see is the one that main.ts prints.
    log: { level: 'warn' },
  };
  const gateway = attempt(() => readGatewayConfig(yaml, env, defaults));
  if (standalone === undefined || gateway === undefined) {
    throw new Fault('invalid_config', { say: faults.map(({ say }) => say).join('\n') });
  }
  return { standalone, gateway };
}
