import type { CommandLine } from '@vitrine/command-line/command';
import { versionCommand } from '@vitrine/command-line/version-command';
import { VERSION } from '../version.ts';
import { corpusImport, profilesRender, technologiesImport } from './corpus-commands.ts';
import { denylistAdd, denylistList, denylistRemove } from './denylist-commands.ts';
import { keyCreate, keyList, keyPeppers, keyRevoke } from './key-commands.ts';
import { serve } from './serve.ts';
import { reconcile, usage } from './usage-commands.ts';
import { loginLink, workspaceCreate, workspaceList } from './workspace-commands.ts';

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
    versionCommand('store-api', VERSION, 'npm run store-api'),
  ],
};
