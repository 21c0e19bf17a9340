import { runCommandLine } from '@vitrine/command-line/run-command-line';
import type { Fault } from '@vitrine/faults/fault';
import { exposeMinorCollection, freeWorkerSemiSpaces } from '@vitrine/lifecycle/heap-flags';
import { scrub } from '@vitrine/privacy/scrub';
import { gatewayCommandLine } from './commands/registry.ts';

/** Includes what is otherwise only in the log, because there is no log at a terminal. */
function messageOf({ code, say, log }: Fault): string {
  const isKeyStore = code === 'key_store_unavailable';
  const message = isKeyStore ? `${say}: ${String(log['path'])}: ${String(log['reason'])}` : say;
  const key = say.startsWith('postgresql://') ? 'storage.dsn (SVC_STORAGE_DSN)' : 'storage.path (SVC_STORAGE_PATH)';
  return scrub(code.startsWith('storage_') ? `${key}: ${message}` : message).text;
}

freeWorkerSemiSpaces();
await runCommandLine(process, gatewayCommandLine(exposeMinorCollection()), messageOf);
