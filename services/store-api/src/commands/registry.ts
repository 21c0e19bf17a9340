import type { CommandLine } from '@vitrine/command-line/command';
import { versionCommand, serveCommand } from '@vitrine/command-line/serve-command';
import { VERSION, readStoreApiConfig, STORE_API_CONFIG_FILE } from '../config.ts';
import { corpusImport, profilesRender, technologiesImport } from './corpus-commands.ts';
import { denylistAdd, denylistList, denylistRemove } from './denylist-commands.ts';
import { keyCreate, keyList, keyPeppers, keyRevoke } from './key-commands.ts';
import { reconcile, usage } from './usage-commands.ts';
import { loginLink, workspaceCreate, workspaceList } from './workspace-commands.ts';
import { startStoreApi } from '../app.ts';

const serve = serveCommand({
  title: 'store API',
  service: 'svc-store-api',
  summary: 'Serves the store intelligence API until it receives SIGINT or SIGTERM; the default command.',
  example: 'STORE_API_STORAGE_DSN=postgresql://store_api:...@postgres/vitrine STORE_API_AUTH_PEPPERS=1:... npm run store-api',
  configFile: STORE_API_CONFIG_FILE,
  readConfig: readStoreApiConfig,
  start: startStoreApi,
});

/** Every command of the store API. */
export const STORE_API_COMMAND_LINE: CommandLine = {
  name: 'store-api',
  defaultCommand: 'serve',
  commands: [
    serve,
    workspaceCreate,
    workspaceList,
    loginLink,
    keyCreate,
    keyList,
    keyRevoke,
    keyPeppers,
    denylistAdd,
    denylistRemove,
    denylistList,
    technologiesImport,
    corpusImport,
    profilesRender,
    usage,
    reconcile,
    versionCommand('store-api', VERSION),
  ],
};
