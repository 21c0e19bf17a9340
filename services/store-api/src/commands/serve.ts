import { command } from '@vitrine/command-line/command';
import { locateConfigFile, readConfigFile } from '@vitrine/config/config-file';
import { createLogger } from '@vitrine/telemetry/logger';
import { startStoreApi } from '../app.ts';
import { readStoreApiConfig, STORE_API_CONFIG_FILE } from '../config.ts';

const AFTER_BUG = 'report it with this line: it is a bug, and the process goes on';

export const serve = command({
  name: 'serve',
  summary: 'Serves the store intelligence API until it receives SIGINT or SIGTERM; the default command.',
  usage: '[--config FILE]',
  help: `Configuration is one YAML file (--config, else STORE_API_CONFIG, else ./store-api.yaml when it is there), then environment
variables: STORE_API_ and the key's path in capitals.

Example:
  STORE_API_STORAGE_DSN=postgresql://store_api:...@postgres/vitrine STORE_API_AUTH_PEPPERS=1:... npm run store-api
`,
  options: {},
  run: async ({ values }, { env, stdout, handleUncaught, untilSignal }) => {
    const config = readStoreApiConfig(readConfigFile(locateConfigFile(values.config, env, STORE_API_CONFIG_FILE).path), env);
    const logger = createLogger('svc-store-api', config.log.level, stdout);
    handleUncaught((error) => logger.error({ err: error, next_step: AFTER_BUG }, 'uncaught exception'));
    const signal = untilSignal();
    await using api = await startStoreApi(config, logger);
    logger.info({ url: api.url, config }, 'store API is listening');
    logger.info({ signal: await signal }, 'store API is shutting down');
    return 0;
  },
});
