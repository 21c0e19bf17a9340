import type { CommandLine } from '@vitrine/command-line/command';
import { versionCommand } from '@vitrine/command-line/serve-command';
import { VERSION } from '../telemetry/observability-config.ts';
import { configValidate } from './config/config-validate.ts';
import { doctor } from './config/doctor.ts';
import { diagnostics } from './connect/diagnostics.ts';
import { env, wrap } from './connect/sdk-commands.ts';
import { audit } from './keys/audit.ts';
import { keysList, keysPeppers, keysRevoke, keysRotate, keysCreate } from './keys/key-commands.ts';
import { serve } from './serve.ts';
import { debug, debugLast } from './traces/debug.ts';
import { importCommand } from './import/import-command.ts';
import { report } from './traces/report.ts';

/** Every command of the gateway. Spec: G18.1 to G18.8. */
export const gatewayCommandLine: CommandLine = {
  name: 'gateway',
  defaultCommand: 'serve',
  commands: [
    serve,
    configValidate,
    doctor,
    report,
    debug,
    debugLast,
    diagnostics,
    env,
    wrap,
    importCommand,
    keysCreate,
    keysList,
    keysPeppers,
    keysRotate,
    keysRevoke,
    audit,
    versionCommand('gateway', VERSION),
  ],
};
