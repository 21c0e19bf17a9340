import { serveCommand } from '@vitrine/command-line/serve-command';
import { startStoreApi } from '../app.ts';
import { readStoreApiConfig, STORE_API_CONFIG_FILE } from '../config.ts';

export const serve = serveCommand({
  title: 'store API',
  service: 'svc-store-api',
  summary: 'Serves the store intelligence API until it receives SIGINT or SIGTERM; the default command.',
  example: 'STORE_API_STORAGE_DSN=postgresql://store_api:...@postgres/vitrine STORE_API_AUTH_PEPPERS=1:... npm run store-api',
  configFile: STORE_API_CONFIG_FILE,
  readConfig: readStoreApiConfig,
  start: startStoreApi,
});
