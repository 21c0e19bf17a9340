import { audit } from './audit.ts';
import type { Command } from './command.ts';
import { configValidate } from './config-validate.ts';
import { debug, debugLast } from './debug.ts';
import { diagnostics } from './diagnostics.ts';
import { doctor } from './doctor.ts';
import { env } from './env.ts';
import { importCommand } from './import-command.ts';
import { keysCreate } from './keys-create.ts';
import { keysList } from './keys-list.ts';
import { keysRevoke } from './keys-revoke.ts';
import { keysRotate } from './keys-rotate.ts';
import { report } from './report.ts';
import { serve } from './serve.ts';
import { version } from './version-command.ts';
import { wrap } from './wrap.ts';

/** Every command, in the order in which help lists them. Spec: gateway decisions, section 7. */
export const COMMANDS: readonly Command[] = [
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
  keysRotate,
  keysRevoke,
  audit,
  version,
];
