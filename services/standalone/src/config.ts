import { readConfig } from '@vitrine/config/read-config';
import { z } from 'zod';

/** What the one-process form adds to the services' own configuration. Spec: house, section 5. */
const standaloneConfig = z.strictObject({
  data: z.strictObject({ dir: z.string().min(1).default('./data') }).prefault({}),
});
export type StandaloneConfig = z.infer<typeof standaloneConfig>;

/** Faults: `invalid_config`. */
export function readStandaloneConfig(env: Readonly<Record<string, string | undefined>>): StandaloneConfig {
  return readConfig(standaloneConfig, { env, prefix: 'VITRINE_' });
}
